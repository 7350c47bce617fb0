"""Task data: of a subclass, bare, and of a record read without the class."""

import copy
import pickle
from pathlib import Path

import orjson
import pytest
from pydantic import ValidationError

from encoder.records import AgentConfig, AgentInfo, Episode, TaskData, Trace, TraceTask


class MathTask(TaskData):
    answer: int
    hint: str | None = None


EpisodeOfMath = Episode[MathTask]


def task() -> MathTask:
    return MathTask(idx=1, prompt="2+2?", answer=4)


def test_defaults() -> None:
    data = TaskData()
    assert data.network_allow == ["*"]
    assert data.artifact_max_bytes == 33_554_432
    assert data.model_dump(mode="json", exclude_none=True) == {
        "skills": [],
        "network_allow": ["*"],
        "network_block": [],
        "artifacts": [],
        "artifact_max_bytes": 33_554_432,
        "timeout": {},
        "resources": {},
    }


@pytest.mark.every_path
def test_a_bare_episode_writes_the_fields_of_the_instance() -> None:
    bare = Episode(task=TraceTask(type="MathTask", data=task()))
    assert type(bare.task.data) is MathTask
    assert bare.to_record()["task"]["data"]["answer"] == 4
    assert bare.to_json() == orjson.dumps(bare.to_record())


@pytest.mark.every_path
def test_a_bare_episode_reads_into_loose_task_data() -> None:
    text = EpisodeOfMath(task=TraceTask[MathTask](type="MathTask", data=task())).to_json()
    bare = Episode.model_validate_json(text)
    assert type(bare.task.data) is TaskData
    assert bare.task.data.model_extra == {"answer": 4}
    assert bare.to_json() == text


@pytest.mark.every_path
def test_an_episode_of_a_class_reads_into_it() -> None:
    text = Episode(task=TraceTask(type="MathTask", data=task())).to_json()
    typed = EpisodeOfMath.model_validate_json(text)
    assert typed.task.data == task()
    assert typed.to_json() == text
    with pytest.raises(ValidationError, match="answer"):
        EpisodeOfMath.model_validate_json(text.replace(b"answer", b"question"))


@pytest.mark.every_path
def test_an_episode_of_a_class_has_traces_of_it() -> None:
    trace = {"task": {"type": "MathTask", "data": {"answer": 1, "unknown": 2}}, "agent": {"config": {}}}
    typed = EpisodeOfMath.model_validate({"task": trace["task"], "traces": [trace]})
    assert isinstance(typed.traces[0], Trace)
    assert type(typed.traces[0].task.data) is MathTask
    assert typed.to_record()["traces"][0]["task"]["data"]["unknown"] == 2
    assert typed.to_json() == orjson.dumps(typed.to_record())


@pytest.mark.every_path
def test_a_bare_trace() -> None:
    trace = Trace(task=TraceTask(type="MathTask", data=task()), agent=AgentInfo(config=AgentConfig()))
    assert trace.to_record()["task"]["data"]["hint"] is None
    assert trace.to_json() == orjson.dumps(trace.to_record())


def test_task_data_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        task().answer = 5  # type: ignore[misc]


def test_skills_are_paths_or_dicts() -> None:
    data = TaskData.model_validate({"skills": ["a/b", {"runtime": "/skills"}]})
    assert data.skills == [Path("a/b"), {"runtime": "/skills"}]
    assert data.model_dump(mode="json")["skills"] == ["a/b", {"runtime": "/skills"}]


def test_episodes_of_a_class_can_be_pickled() -> None:
    trace = {"task": {"type": "MathTask", "data": {"answer": 1}}, "agent": {"config": {}}}
    episode = Episode[MathTask].model_validate({"task": trace["task"], "traces": [trace]})
    again = pickle.loads(pickle.dumps(episode))
    assert again == episode
    assert type(again) is Episode[MathTask]
    assert copy.deepcopy(episode) == episode
