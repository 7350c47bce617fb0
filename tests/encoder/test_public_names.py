"""The names that others build on."""

import encoder
from encoder import delta, records


def test_the_public_names_are_pinned() -> None:
    functions = {"aiter_json", "from_messages", "iter_json", "prepare", "record_gaps", "to_json"}
    errors = {"ChatError", "EncodeError", "EncoderError"}
    models = {"Episode", "Trace", "MessageNode", "TaskData", "TraceTask", "ModelCall", "Usage", "TrainRunInfo"}
    assert set(encoder.__all__) == functions | errors | set(records.__all__)
    assert models <= set(records.__all__)
    assert all(hasattr(encoder, name) for name in encoder.__all__)


def test_the_public_names_of_deltas_are_pinned() -> None:
    names = {"AssembledTrace", "DeltaEncoder", "DeltaInfo", "DeltaLines", "EpisodeAssembly", "peek"}
    errors = {"DamagedRecord", "Delta", "DeltaState", "DeltaVersion", "ForeignDelta", "LostDelta", "MalformedDelta"}
    assert set(delta.__all__) == names | {f"{name}Error" for name in errors}
    assert all(getattr(delta, name).__doc__ for name in delta.__all__)


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
