"""Token counts as fields: one pass a record, and what subclasses make of them."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from pydantic import computed_field

from encoder.records import AgentConfig, AgentInfo, Episode, ModelCall, TaskData, Trace, TraceTask, Usage, counting

TASK = TraceTask(type="T", data=TaskData())
AGENT = AgentInfo(config=AgentConfig())


def make_trace(cls: type[Trace] = Trace) -> Trace:
    nodes = [{"parent": parent, "message": {"role": "user", "content": ""}} for parent in (None, 0, 0)]
    calls = [ModelCall(node=n, usage=Usage(prompt_tokens=10 * n, completion_tokens=n)) for n in range(3)]
    return cls.model_validate({"task": TASK, "agent": AGENT, "nodes": nodes, "calls": calls})


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each pass over a trace."""
    made: list[int] = []

    count = counting._counted

    def counted(*arguments: Any) -> Iterator[None]:
        made.append(1)
        return count(*arguments)

    monkeypatch.setattr(counting, "_counted", counted)
    return made


COUNTS = {"num_input_tokens": 30, "num_output_tokens": 3, "num_total_tokens": 33}


def test_the_fields() -> None:
    trace = make_trace()
    assert {name: getattr(trace, name) for name in COUNTS} == COUNTS
    episode = Episode(task=TASK, traces=[trace, make_trace()])
    assert {name: getattr(episode, name) for name in COUNTS} == {k: 2 * v for k, v in COUNTS.items()}


def test_each_trace_is_counted_once_a_record(passes: list[int]) -> None:
    episode = Episode(task=TASK, traces=[make_trace(), make_trace()])
    episode.to_record()
    assert len(passes) == 2
    episode.to_json()
    assert len(passes) == 4
    make_trace().to_record()
    assert len(passes) == 5


@pytest.mark.every_path
def test_a_change_between_two_records_shows(passes: list[int]) -> None:
    trace = make_trace()
    before = trace.to_record()
    trace.calls.pop()
    assert trace.to_record()["num_total_tokens"] < before["num_total_tokens"]
    assert trace.to_json() == orjson.dumps(trace.to_record())


class Overridden(Trace):
    @computed_field  # type: ignore[prop-decorator]
    @property
    def num_input_tokens(self) -> int:
        return 1_000


@pytest.mark.every_path
def test_a_subclass_may_count_otherwise() -> None:
    episode = Episode(task=TASK, traces=[make_trace(Overridden), make_trace()])
    assert episode.to_record()["num_input_tokens"] == 1_030
    assert episode.to_json() == orjson.dumps(episode.to_record())
    trace = make_trace(Overridden)
    assert trace.to_json() == orjson.dumps(trace.to_record())


@pytest.mark.every_path
def test_an_episode_of_many_traces() -> None:
    episode = Episode(task=TASK, traces=[make_trace() for _ in range(150)])
    assert episode.to_json() == orjson.dumps(episode.to_record())
