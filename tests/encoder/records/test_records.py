"""The whole schema: records of another producer, and each model's fields in the order of the wire."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from encoder import records
from encoder.records import Episode, Trace

FOLDER = Path(__file__).parent
NUMPY = orjson.OPT_SERIALIZE_NUMPY


def compact(name: str) -> bytes:
    """A hand-written record, without its white space."""
    return orjson.dumps(orjson.loads((FOLDER / name).read_bytes()))


@pytest.mark.every_path
@pytest.mark.parametrize(("name", "cls"), [("episode.json", Episode), ("trace.json", Trace)])
def test_a_record_of_another_producer_comes_out_as_it_came(name: str, cls: type[Episode | Trace]) -> None:
    record = cls.model_validate_json(compact(name))
    assert orjson.dumps(record.to_record(), option=NUMPY) == compact(name)
    assert record.to_json() == compact(name)
    assert b"".join(record.iter_json()) == compact(name)
    assert cls.model_validate(orjson.loads(compact(name))).to_json() == compact(name)


@pytest.mark.every_path
async def test_asynchronously() -> None:
    record = Episode.model_validate_json(compact("episode.json"))
    assert b"".join([piece async for piece in record.aiter_json()]) == compact("episode.json")


@pytest.mark.every_path
@pytest.mark.parametrize("decimals", [None, 0, 2, 4, 12])
@pytest.mark.parametrize(
    "exclude",
    [None, {"task", "num_input_tokens"}, {"traces": {"__all__": {"nodes": {"__all__": {"token_ids"}, -1: {"mask"}}}}}],
)
def test_arguments_of_all_ways_to_write(decimals: int | None, exclude: Any) -> None:
    episode = Episode.model_validate_json(compact("episode.json"))
    trace = episode.traces[0]
    for record, spec in ((episode, exclude), (trace, exclude and {"nodes": {0}})):
        arguments: dict[str, Any] = {"float_decimals": decimals, "exclude": spec}
        expected = orjson.dumps(record.to_record(**arguments), option=NUMPY)
        assert record.to_json(**arguments) == expected
        assert b"".join(record.iter_json(**arguments)) == expected


SCHEMA = {
    "Episode": "id env task group run ok is_timeout errors traces num_input_tokens num_output_tokens num_total_tokens",
    "EnvInfo": "id name",
    "GroupInfo": "id",
    "TraceTask": "type data key hash",
    "TaskData": "idx id name description prompt system_prompt image workdir agent_user skills network_allow"
    " network_block artifacts artifact_max_bytes timeout resources",
    "Artifact": "source exclude required",
    "TaskTimeout": "setup agent finalize scoring",
    "TaskResources": "cpu memory gpu disk",
    "Error": "type message status_code traceback",
    "TrainRunInfo": "type id name work",
    "EvalRunInfo": "type id name",
    "TrainWorkInfo": "type step policy",
    "EvalWorkInfo": "type step policy",
    "PolicySpan": "start end",
    "Trace": "version id verifiers task agent run tools nodes calls mm_token_type_id_map request_rewrites"
    " response_rewrites rewards metrics info root_reply state extra_usage is_completed ok stop_condition"
    " is_timeout errors timing num_input_tokens num_output_tokens num_total_tokens",
    "VersionInfo": "version commit",
    "AgentInfo": "config runtime name trainable",
    "Tool": "type name namespace description parameters strict",
    "ModelCall": "node model sampling endpoint finish_reason usage time error policy acp",
    "SamplingConfig": "temperature top_p reasoning_effort max_tokens",
    "Usage": "prompt_tokens completion_tokens cached_input_tokens reasoning_tokens cost",
    "PolicyEvent": "code paths",
    "ACPInfo": "request_id",
    "TimeSpan": "start end",
    "TimeSplit": "duration",
    "Timing": "start boot setup agent finalize scoring",
    "AgentSpan": "start end model harness",
    "InterceptRecord": "handler",
    "Reward": "score weight",
    "MessageNode": "parent tools semantic_parents message sampled timestamp token_ids mask is_content logprobs"
    " advantages reference_logprobs trainer_logprobs entropies loss_weights routed_experts sampling_mask",
    "ParentLink": "node type",
    "SamplingMask": "ids counts",
    "SystemMessage": "role content",
    "UserMessage": "role content",
    "AssistantMessage": "role content reasoning_content tool_calls provider_state",
    "ToolMessage": "role tool_call_id content name",
    "TextContentPart": "type text",
    "ImageUrlContentPart": "type image_url",
    "ImageUrl": "url",
    "ToolCall": "id type name namespace arguments",
    "AgentConfig": "",
    "RuntimeInfo": "",
}


@pytest.mark.parametrize("name", SCHEMA)
def test_fields_in_the_order_of_the_wire(name: str) -> None:
    cls = getattr(records, name)
    assert [*cls.model_fields, *cls.model_computed_fields] == SCHEMA[name].split()


def test_every_model_is_in_the_table() -> None:
    public = {name: getattr(records, name) for name in records.__all__}
    models = {name for name, item in public.items() if isinstance(item, type) and issubclass(item, BaseModel)}
    assert models == set(SCHEMA)


LOOSE = {"TaskData", "AgentConfig", "RuntimeInfo", "Tool", "SamplingConfig"}


@pytest.mark.parametrize("name", SCHEMA)
def test_loose_models(name: str) -> None:
    assert (getattr(records, name).model_config.get("extra") == "allow") == (name in LOOSE)


@pytest.mark.parametrize("cls", [Episode, Trace])
@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_json_schema(cls: type[Episode | Trace], mode: Any) -> None:
    assert "properties" in str(cls.model_json_schema(mode=mode))
