"""Episodes and their traces: runs, equality, copies, and what a record leaves out."""

import copy
import pickle
import re
from typing import Any

import orjson
import pytest

from encoder.encode import to_json
from encoder.errors import EncodeError
from encoder.records import (
    AgentConfig,
    AgentInfo,
    Episode,
    EvalRunInfo,
    MessageNode,
    TaskData,
    Trace,
    TraceTask,
    UserMessage,
)


def make_trace(**fields: Any) -> Trace:
    node = MessageNode(message=UserMessage(content="hi"), timestamp=1.0, logprobs=[0.5, float("nan")])
    agent = AgentInfo(config=AgentConfig())
    return Trace(task=TraceTask(type="T", data=TaskData()), agent=agent, nodes=[node], **fields)


def make_episode(**fields: Any) -> Episode:
    return Episode(task=TraceTask(type="T", data=TaskData()), traces=[make_trace(), make_trace()], **fields)


def test_ids_and_builds_are_filled_in() -> None:
    episode = make_episode()
    ids = {episode.id, *(trace.id for trace in episode.traces)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)
    assert episode.traces[0].version == 1
    assert episode.traces[0].verifiers.version


def test_record_run_marks_the_episode_and_its_traces() -> None:
    episode = make_episode()
    run = EvalRunInfo(id="r1")
    episode.record_run(run)
    record = episode.to_record()
    assert record["run"] == record["traces"][0]["run"] == record["traces"][1]["run"] == {"type": "eval", "id": "r1"}
    assert list(record["traces"][0]).index("run") == list(record["traces"][0]).index("agent") + 1


def test_a_bare_trace_keeps_its_nulls_but_not_an_absent_run() -> None:
    record = make_trace().to_record()
    assert "run" not in record
    assert record["root_reply"] is None
    assert record["nodes"][0]["parent"] is None
    assert record["nodes"][0]["logprobs"][0] == 0.5
    assert make_trace(run=EvalRunInfo(id="r")).to_record()["run"] == {"type": "eval", "id": "r", "name": None}


@pytest.mark.every_path
def test_state_is_never_written() -> None:
    episode = make_episode()
    episode.traces[0].state = object()
    assert "state" not in episode.to_record()["traces"][0]
    assert b"state" not in episode.to_json()


@pytest.mark.every_path
def test_equality() -> None:
    episode = make_episode()
    twin = Episode.model_validate_json(episode.to_json(float_decimals=None))
    assert twin == episode
    twin.traces[1].nodes[0].logprobs[0] = 0.25
    assert twin != episode


@pytest.mark.every_path
@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), lambda e: e.model_copy(deep=True)]
)
def test_copies(duplicate: Any) -> None:
    episode = make_episode()
    twin = duplicate(episode)
    assert twin == episode
    assert twin.to_json() == episode.to_json()
    assert twin.traces[0].nodes[0].logprobs is not episode.traces[0].nodes[0].logprobs


@pytest.mark.every_path
def test_what_cannot_be_written_is_named() -> None:
    episode = make_episode()
    episode.traces[1].nodes[0].message = UserMessage(content="\ud800")
    with pytest.raises(EncodeError) as caught:
        episode.to_json()
    assert caught.value.path == "$.traces[1].nodes[0].message.content"
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps(episode.to_record())


def test_what_is_no_trace_among_the_traces() -> None:
    fields: dict[str, Any] = make_episode().__dict__ | {"traces": [1, "text", None, {}]}
    episode = Episode.model_construct(**fields)
    with pytest.warns(UserWarning, match="Expected"):
        body = to_json(episode, exclude_computed_fields=True)
    with pytest.warns(UserWarning, match="Expected"):
        assert body == orjson.dumps(episode.model_dump(mode="json", exclude_computed_fields=True))
