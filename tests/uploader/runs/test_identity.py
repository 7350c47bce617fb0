"""What is encoded for a record: its oracle's bytes under the run's identity, and the record as it was."""

import pickle
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder import (
    AgentConfig,
    AgentInfo,
    Episode,
    EvalRunInfo,
    EvalWorkInfo,
    PolicySpan,
    TaskData,
    Trace,
    TraceTask,
    TrainRunInfo,
    TrainWorkInfo,
    from_messages,
)
from encoder.synthetic import synthetic_episode
from tests.encoder.strategies import oracle_settings
from tests.end_to_end.service import oracle
from uploader.records import whole_record
from uploader.runs import identity
from uploader.runs.identity import Identity, RunKind

TRAIN, EVAL = Identity("train", "run-1"), Identity("eval", "run-1")
CHAT = [{"role": "user", "content": "6 * 7?"}, {"role": "assistant", "content": "42"}]


class OwnTask(TaskData):
    answer: int = 42


def line(record: Any) -> bytes:
    pieces, _ = whole_record(record, 1)
    return b"".join(pieces)[:-1]


def chat(number: int = 0) -> Episode[Any]:
    return from_messages(CHAT, task="arithmetic", reward=1.0, id=f"e{number}")


spans = st.none() | st.builds(
    lambda start, more: PolicySpan(start=start, end=start + more), st.integers(0, 9), st.just(2)
)
works = st.builds(TrainWorkInfo, step=st.integers(0, 99), policy=spans) | st.builds(
    EvalWorkInfo, step=st.integers(0, 99), policy=spans
)
names = st.none() | st.text(max_size=5)
runs = (
    st.none()
    | st.builds(TrainRunInfo, id=st.text(max_size=5), name=names, work=works)
    | st.builds(EvalRunInfo, id=st.text(max_size=5), name=names)
)
steps = st.none() | st.integers(0, 1000)


@st.composite
def episodes(draw: st.DrawFn) -> Episode[Any]:
    episode: Episode[Any]
    match draw(st.integers(0, 2)):
        case 0:
            episode = synthetic_episode(draw(st.integers(0, 5)), num_nodes=3, tokens_per_node=5)
            episode.traces *= draw(st.integers(0, 3))  # the same trace several times
        case 1:
            episode = Episode[OwnTask](task=TraceTask[OwnTask](type="own", data=OwnTask(answer=7)))
            task, agent = episode.task, AgentInfo(config=AgentConfig())
            episode.traces = [Trace[OwnTask](task=task, agent=agent) for _ in range(draw(st.integers(0, 3)))]
        case _:
            episode = chat()
    episode.run = draw(runs)
    return episode


def expected(own: Any, kind: RunKind, step: int | None, for_: RunKind = "train") -> TrainRunInfo | EvalRunInfo:
    name, work = getattr(own, "name", None), getattr(own, "work", None)
    if kind == "eval":
        return EvalRunInfo(id="run-1", name=name)
    new = {"train": TrainWorkInfo, "eval": EvalWorkInfo}[for_]
    return TrainRunInfo(id="run-1", name=name, work=work or new(step=step or 0))


kinds: st.SearchStrategy[RunKind] = st.sampled_from(("train", "eval"))


@oracle_settings(100)
@given(episodes(), kinds, steps, kinds)
def test_an_episode_is_written_as_a_copy_with_this_run_would_be(
    episode: Episode[Any], kind: RunKind, step: int | None, for_: RunKind
) -> None:
    before = pickle.dumps(episode)
    copy = episode.model_copy(deep=True)
    copy.record_run(expected(episode.run, kind, step, for_))
    stand_in = Identity(kind, "run-1").preparer(step, for_)(episode)
    assert line(stand_in) == oracle(copy)
    assert type(stand_in) is type(episode)
    assert pickle.dumps(episode) == before


@oracle_settings(100)
@given(episodes().filter(lambda episode: bool(episode.traces)), runs, kinds, steps)
def test_a_trace_is_written_as_a_copy_with_this_run_would_be(
    episode: Episode[Any], run: Any, kind: RunKind, step: int | None
) -> None:
    trace = episode.traces[0]
    trace.run = run
    before = pickle.dumps(trace)
    copy = trace.model_copy(deep=True)
    copy.run = expected(run, kind, step)
    assert line(Identity(kind, "run-1").stand_in(trace, step)) == oracle(copy)
    assert pickle.dumps(trace) == before


@oracle_settings(100)
@given(episodes(), st.lists(runs, min_size=3, max_size=3), kinds, steps)
def test_members_keep_what_they_say_themselves(
    episode: Episode[Any], own: list[Any], kind: RunKind, step: int | None
) -> None:
    episode.traces = [trace.model_copy(update={"run": run}) for trace, run in zip(episode.traces, own, strict=False)]
    whole = orjson.loads(line(Identity(kind, "run-1").stand_in(episode, step)))
    for trace, written in zip(episode.traces, whole["traces"], strict=True):
        run = written["run"]
        assert (run["id"], run["type"]) == ("run-1", kind)
        said = [each for each in (trace.run, episode.run) if each is not None]
        assert run.get("name") == next((each.name for each in said if each.name is not None), None)
        works = [each.work for each in said if isinstance(each, TrainRunInfo)]
        works.append(TrainWorkInfo(step=step or 0))
        if kind == "train":
            assert run["work"] == works[0].model_dump(mode="json", exclude_none=True)
        else:
            assert "work" not in run


def test_nothing_inside_is_copied() -> None:
    episode = synthetic_episode(1, num_nodes=5)
    stand_in = TRAIN.stand_in(episode)
    assert stand_in.traces[0].nodes is episode.traces[0].nodes
    assert stand_in.task is episode.task


def test_mappings_get_the_same_identity_as_models() -> None:
    for run in (
        None,
        TrainRunInfo(id="own", name="n", work=EvalWorkInfo(step=4)),
        TrainRunInfo(id="own", work=TrainWorkInfo(step=4, policy=PolicySpan(start=1, end=2))),
        EvalRunInfo(id="own", name="n"),
    ):
        episode = chat()
        episode.run = run
        for each in (TRAIN, EVAL, Identity("train", "run-1", "eval")):
            record = episode.to_record()
            before = orjson.dumps(record)
            written = orjson.loads(line(each.stand_in(record, 3)))
            assert written == orjson.loads(line(each.stand_in(episode, 3)))
            assert orjson.dumps(record) == before
            (trace,) = record["traces"]
            alone = orjson.loads(line(each.stand_in(trace, 3)))["run"]
            assert (alone["id"], alone["type"]) == ("run-1", each.kind)
            if run is None:
                assert alone == written["run"]


def test_keys_of_a_mapping_stay_in_their_places() -> None:
    stand_in = EVAL.stand_in({"id": "e", "run": {"id": "x", "type": "train", "note": "kept"}, "traces": ()})
    assert list(stand_in) == ["id", "run", "traces"]
    assert stand_in["run"] == {"id": "run-1", "type": "eval", "note": "kept"}


@pytest.mark.parametrize("run", ["text", 5, [], {"work": None, "name": None}])
def test_a_mapping_whose_run_says_nothing(run: Any) -> None:
    assert TRAIN.stand_in({"run": run}, 7)["run"] == {
        "type": "train",
        "id": "run-1",
        "work": {"type": "train", "step": 7},
    }


def test_members_of_every_form() -> None:
    trace = chat().traces[0]
    record = TRAIN.stand_in({"run": {"name": "n"}, "traces": [trace, trace.to_record(), 5]}, 2)
    first, second, third = record["traces"]
    assert first.run == TrainRunInfo(id="run-1", name="n", work=TrainWorkInfo(step=2))
    assert second["run"] == {"id": "run-1", "type": "train", "name": "n", "work": {"type": "train", "step": 2}}
    assert third == 5
    built = Episode.model_construct(task=chat().task, run=None, traces=[trace.to_record()])  # type: ignore[list-item]
    assert TRAIN.stand_in(built, 2).traces[0]["run"]["work"] == {"type": "train", "step": 2}


def test_a_tuple_of_traces_stays_one() -> None:
    episode = chat()
    episode.traces = tuple(episode.traces)  # type: ignore[assignment]
    assert isinstance(TRAIN.stand_in(episode).traces, tuple)


def test_other_objects() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"{}"

    only_record = SimpleNamespace(to_record=lambda: {"id": "e", "traces": [{"id": "t"}]})
    run = {"type": "eval", "id": "run-1"}
    assert EVAL.stand_in(only_record) == {"id": "e", "traces": [{"id": "t", "run": run}], "run": run}
    for own in (SimpleNamespace(iter_json=pieces), SimpleNamespace(to_json=lambda: b"{}"), b"{}", bytearray(b"{}"), 5):
        assert EVAL.stand_in(own) is own


def test_thousands_of_traces_are_made_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    looks: list[int] = []

    class Watching:
        def pause_if_due(self) -> bool:
            looks.append(len(made))
            return True

    real = Identity._member

    def noted(self: Identity, trace: Any, run: Any) -> Any:
        made.append(1)
        return real(self, trace, run)

    monkeypatch.setattr(identity, "Pacer", Watching)
    monkeypatch.setattr(Identity, "_member", noted)
    episode = chat()
    episode.traces *= 1020
    assert len(TRAIN.stand_in(episode).traces) == 1020
    assert looks == [*range(50, 1020, 50), 1020]
