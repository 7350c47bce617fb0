"""The names that others build on."""

import encoder
from encoder import records


def test_the_public_names_are_pinned() -> None:
    functions = {"aiter_json", "from_messages", "iter_json", "prepare", "record_gaps", "to_json"}
    errors = {"ChatError", "EncodeError", "EncoderError"}
    models = {"Episode", "Trace", "MessageNode", "TaskData", "TraceTask", "ModelCall", "Usage", "TrainRunInfo"}
    assert set(encoder.__all__) == functions | errors | set(records.__all__)
    assert models <= set(records.__all__)
    assert all(hasattr(encoder, name) for name in encoder.__all__)


def test_every_public_name_is_documented() -> None:
    plain = {
        "TRACE_VERSION",
        "FinishReason",
        "ContentPart",
        "Message",
        "MessageContent",
        "RunInfo",
        "WorkInfo",
        "DataT",
    }
    for name in set(encoder.__all__) - plain:
        assert getattr(encoder, name).__doc__, name
