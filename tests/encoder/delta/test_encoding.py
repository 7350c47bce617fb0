"""The side that sends: what is in a line, what is not, and what happens when something goes wrong."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from pydantic import ConfigDict, Field, field_serializer, model_serializer

from encoder import (
    AssistantMessage,
    EncodeError,
    Episode,
    Error,
    EvalRunInfo,
    MessageNode,
    ModelCall,
    TaskData,
    ToolMessage,
    Trace,
    TraceTask,
    Usage,
    UserMessage,
    pumps,
)
from encoder.delta import DeltaEncoder, DeltaStateError, EpisodeAssembly, peek
from encoder.synthetic import synthetic_episode
from tests.encoder.delta.rollouts import Rollout, dumped, node, trace
from tests.encoder.test_appending import Rollout as Endless
from tests.encoder.test_appending import meanwhile


def parts_of(line: bytes) -> dict[tuple[int | None, str], Any]:
    """The values of a line by trace and field, as anybody can read them: as JSON."""
    read = orjson.loads(line)
    operations = [operation for group in read["ops"] for operation in group]
    sized = [operation for operation in operations if operation[0] in ("value", "items", "pending")]
    assert len(sized) == len(read["parts"])
    return {
        (operation[1], operation[2] if operation[0] != "pending" else "pending"): part
        for operation, part in zip(sized, read["parts"], strict=True)
    }


def grown(num_nodes: int = 2) -> Rollout:
    rollout = Rollout(True)
    rollout.record.traces.append(trace(3, "t1"))
    rollout.record.traces[0].nodes += [node(number, None) for number in range(num_nodes)]
    return rollout


def test_a_trace_begins_with_its_header() -> None:
    parts = parts_of(DeltaEncoder(grown().record).encode())
    header = [name for number, name in parts if number == 0][:6]
    assert header == ["version", "id", "verifiers", "task", "agent", "run"]
    assert parts[0, "run"] is None
    assert parts[None, "run"] is None
    assert parts[0, "verifiers"] == {"version": "1"}


def test_what_is_new_is_sent_once_and_nothing_else() -> None:
    record = grown().record
    encoder = DeltaEncoder(record)
    encoder.encode()
    assert encoder.encode() == b""
    assert encoder.sequence == 1
    one = record.traces[0]
    one.nodes.append(node(9, 1))
    one.calls.append(ModelCall(node=2, usage=Usage(prompt_tokens=5, completion_tokens=7)))
    one.stop_condition = "done"
    one.errors.append(Error(type="E", message="m"))
    parts = parts_of(encoder.encode())
    counts = {(number, f"num_{what}_tokens") for number in (None, 0) for what in ("input", "output", "total")}
    assert parts.keys() == {(0, "nodes"), (0, "calls"), (0, "errors"), (0, "stop_condition"), *counts}
    assert len(parts[0, "nodes"]) == 1
    assert encoder.encode() == b""


def test_a_change_to_the_newest_items_is_found_and_of_older_ones_by_a_thorough_delta() -> None:
    record = grown(2).record
    encoder, nodes = DeltaEncoder(record), record.traces[0].nodes
    encoder.encode()
    nodes.append(node(8, None))
    encoder.encode()
    nodes[2].timestamp = 1.0
    assert parts_of(encoder.encode()).keys() == {(0, "nodes")}
    nodes[0].timestamp = 1.0
    assert encoder.encode() == b""
    assert len(parts_of(encoder.encode(thorough=True))[0, "nodes"]) == 2
    nodes[1].timestamp = 1.0
    assert encoder.encode(last=True, thorough=False).startswith(b'{"parts":[],')


def test_a_list_is_divided_into_chunks() -> None:
    record = grown(0).record
    record.traces[0].nodes += [MessageNode(message=UserMessage(content="x"), timestamp=1.0)] * 300
    record.traces[0].calls += [ModelCall(endpoint="e" * 50_000)] * 20
    read = orjson.loads(DeltaEncoder(record).encode())
    chunks = [operation[2:5] for group in read["ops"] for operation in group if operation[0] == "items"]
    assert [chunk for chunk in chunks if chunk[0] == "nodes"] == [
        ["nodes", number, count] for number, count in enumerate([64, 64, 64, 64, 44])
    ]
    assert [count for name, _, count in chunks if name == "calls"] == [8, 8, 4]


def test_a_list_that_gets_shorter() -> None:
    record = grown(0).record
    encoder, assembly, one = DeltaEncoder(record), EpisodeAssembly(), record.traces[0]
    for number in range(5):
        one.nodes.append(node(number, None))
        assembly.feed(encoder.encode())
    del one.nodes[3:]
    line = encoder.encode()
    assert b'["keep",0,"nodes",3]' in line
    assembly.feed(line)
    assert assembly.to_json() == dumped(record)
    one.nodes.clear()
    assembly.feed(encoder.encode())
    assert assembly.traces[0].num_nodes == 0
    assert assembly.to_json() == dumped(record)


def test_traces_are_known_by_their_ids() -> None:
    record = grown(0).record
    record.traces[:] = [trace(1, "a"), trace(2, "b"), trace(3, "b"), trace(4, "c")]
    for number, one in enumerate(record.traces):
        one.nodes += [node(number, None)] * 70
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode())
    record.traces[:] = [record.traces[3], record.traces[1], record.traces[2].model_copy()]
    parts = parts_of(line := encoder.encode())
    assert b'["traces",[3,1,2]]' in line
    assert {number for number, _ in parts} <= {None}
    assembly.feed(line)
    assert assembly.to_json() == dumped(record)
    record.traces.append(trace(1, "a"))
    assembly.feed(line := encoder.encode())
    assert b'["traces",[3,1,2,4]]' in line
    assert assembly.to_json() == dumped(record)


def test_a_preview_lasts_until_there_is_another_node() -> None:
    record = grown().record
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    one = record.traces[0]
    tool = ToolMessage(tool_call_id="c", content="result")
    encoder.preview(one, [tool, {"role": "user", "content": "and?"}])
    assembly.feed(encoder.encode())
    assert [message["role"] for message in assembly.traces[0].pending] == ["tool", "user"]
    assert encoder.encode() == b""
    assert assembly.to_json() == dumped(record)
    one.nodes.append(MessageNode(message=tool))
    assembly.feed(encoder.encode())
    assert assembly.traces[0].pending == []
    encoder.preview(one, [UserMessage(content="next")])
    assembly.feed(encoder.encode())
    assert assembly.traces[0].pending == [{"role": "user", "content": "next"}]
    encoder.preview(one, [])
    assembly.feed(encoder.encode())
    assert assembly.traces[0].pending == []
    encoder.preview(one, [tool])
    assembly.feed(encoder.encode())
    assembly.feed(encoder.encode(last=True))
    assert assembly.traces[0].pending == []
    assert assembly.to_json() == dumped(record)


def test_a_preview_of_a_trace_alone() -> None:
    alone = trace(1, "alone")
    encoder, assembly = DeltaEncoder(alone), EpisodeAssembly()
    encoder.preview(alone, [AssistantMessage(content="so")])
    assembly.feed(encoder.encode())
    assert assembly.record.pending[0]["content"] == "so"
    assert assembly.to_json() == dumped(alone)


def test_the_end_is_an_end() -> None:
    record = grown().record
    encoder = DeltaEncoder(record)
    assert peek(encoder.encode(last=True)).digest
    assert encoder.is_complete
    with pytest.raises(DeltaStateError, match="restart"):
        encoder.encode()
    encoder.restart()
    info = peek(encoder.encode(last=True))
    assert (info.attempt, info.sequence, info.state) == (2, 0, "last")


def test_an_attempt_that_was_not_begun_is_not_counted() -> None:
    encoder = DeltaEncoder(grown().record)
    encoder.restart()
    assert encoder.attempt == 1
    encoder.discard()
    encoder.restart()
    assert encoder.attempt == 2


def test_what_cannot_be_streamed() -> None:
    with pytest.raises(TypeError, match="an episode or a trace"):
        DeltaEncoder({"id": "e"})  # type: ignore[arg-type]
    encoder = DeltaEncoder(Episode(id="e", task=TraceTask(type="t", data=TaskData())))
    with pytest.raises(DeltaStateError, match="kind 'episode'"):
        encoder.restart(trace(1, "t"))
    with pytest.raises(TypeError):
        encoder.restart(3)  # type: ignore[arg-type]


def test_a_value_that_cannot_be_written_costs_nothing() -> None:
    record = grown(5).record
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode())
    record.traces[0].nodes += [node(1, None) for _ in range(20)]
    record.traces[0].nodes[18].message.__dict__["content"] = "\ud800"
    for encode in (encoder.encode, lambda: list(encoder.iter_encode())):
        with pytest.raises(EncodeError) as caught:
            encode()
        assert caught.value.path == "$.traces[0].nodes[18].message.content"
    record.traces[0].nodes[18].message.__dict__["content"] = "good"
    record.traces[0].info["bad"] = {1: object()}
    with pytest.raises(EncodeError, match=r"^\$\.traces\[0\]\.info\.bad"):
        encoder.encode()
    del record.traces[0].info["bad"]
    assert encoder.sequence == 1
    assert assembly.feed(encoder.encode())
    assert assembly.to_json() == dumped(record)


@pytest.mark.parametrize("num_nodes", [2, 400])
def test_a_line_that_was_begun_and_left_ends_the_attempt(num_nodes: int) -> None:
    record = grown(num_nodes).record
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    pieces = encoder.iter_encode()
    next(pieces)
    with pytest.raises(DeltaStateError, match="being encoded"):
        encoder.encode()
    with pytest.raises(DeltaStateError, match="being encoded"):
        encoder.restart()
    pieces.close()  # type: ignore[attr-defined]
    assert (encoder.attempt, encoder.sequence) == (2, 0)
    assembly.feed(encoder.encode(last=True))
    assert assembly.to_json() == dumped(record)


def test_a_line_that_was_never_begun_is_none() -> None:
    encoder = DeltaEncoder(grown().record)
    encoder.iter_encode()
    assert encoder.encode()
    assert (encoder.attempt, encoder.sequence) == (1, 1)


async def test_on_an_event_loop_others_have_their_turns() -> None:
    record = synthetic_episode(5, target_bytes=3_000_000)
    encoder, assembly, turns = DeltaEncoder(record), EpisodeAssembly(), 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    pieces = [piece async for piece in encoder.aiter_encode(last=True)]
    while_encoding, turns = turns, 0
    assert await assembly.afeed(pieces)
    task.cancel()
    assert while_encoding > 3
    assert turns > 1
    assert max(map(len, pieces)) < 1024 * 1024
    assert b"".join([piece async for piece in assembly.aiter_json()]) == record.to_json()


def test_a_record_that_grows_while_it_is_encoded() -> None:
    rollout = Endless(200, max_nodes=700)
    encoder, assembly = DeltaEncoder(rollout.episode), EpisodeAssembly()
    with meanwhile(rollout.go_on):
        for _ in range(12):
            line = encoder.encode()
            if line:
                assembly.feed(line)
            again = Episode.model_validate_json(assembly.to_json())
            assert again.to_json() == assembly.to_json()  # the counts are those of the nodes and calls in it
    assembly.feed(encoder.encode(last=True))
    assert assembly.to_json() == dumped(rollout.episode)


def test_a_record_that_grows_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    rollout = Endless(20)
    encoder, assembly = DeltaEncoder(rollout.episode), EpisodeAssembly()

    def watched(steps: Iterator[bytes]) -> Iterator[bytes]:
        for step in steps:
            rollout.go_on()
            yield step

    with monkeypatch.context() as patch:
        patch.setattr(pumps, "watched", watched)
        lines = [encoder.encode() for _ in range(4)]
    for line in lines:
        assembly.feed(line)
        again = Episode.model_validate_json(assembly.to_json())
        assert again.to_json() == assembly.to_json()
    assembly.feed(encoder.encode(last=True))
    assert assembly.to_json() == dumped(rollout.episode)


def test_encoders_in_several_threads() -> None:
    records = [synthetic_episode(seed, num_nodes=40, tokens_per_node=50) for seed in range(4)]
    bodies: dict[int, bytes] = {}

    def stream(seed: int) -> None:
        encoder, assembly = DeltaEncoder(records[seed]), EpisodeAssembly()
        nodes = records[seed].traces[0].nodes
        whole = nodes.copy()
        del nodes[:]
        for one in whole:
            nodes.append(one)
            assembly.feed(encoder.encode())
        assembly.feed(encoder.encode(last=True))
        bodies[seed] = assembly.to_json()

    threads = [threading.Thread(target=stream, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bodies == {seed: dumped(record) for seed, record in enumerate(records)}


class OwnTrace(Trace):
    more: int = 3


class OwnEpisode(Episode):
    model_config = ConfigDict(extra="allow", serialize_by_alias=True)
    more: list[int] = Field(default_factory=list)


class Wrapped(Episode):
    @model_serializer(mode="wrap")
    def _wrap(self, handler: Any) -> Any:
        return {"kind": "wrapped", **handler(self)}


class Flat(Episode):
    @model_serializer
    def _flat(self) -> str:
        return "flat"


class Renamed(Episode):
    model_config = ConfigDict(serialize_by_alias=True, alias_generator=str.upper, validate_by_name=True)


OWN: list[type[Episode]] = [OwnEpisode, Wrapped, Renamed]


@pytest.mark.parametrize("cls", OWN)
@pytest.mark.parametrize("run", [None, EvalRunInfo(id="r")])
def test_classes_of_the_users_own(cls: type[Episode], run: EvalRunInfo | None) -> None:
    rollout = Rollout(True)
    rollout.record = cls(id="e", task=rollout.record.task)
    if cls is OwnEpisode:
        rollout.record.something = {"a": None}
    encoder = DeltaEncoder(rollout.record)
    assembly = EpisodeAssembly(run=None if cls is Renamed else run)
    for name in ("t1", "t2"):
        rollout.record.traces.append(trace(1, name))
        rollout.record.traces.append(OwnTrace(**trace(2, name).__dict__))
        rollout.happen("nodes", 0, 4)
        rollout.happen("calls", 1, 4)
        assembly.feed(encoder.encode(last=name == "t2"))
    expected = dumped(rollout.record, None if cls is Renamed else run)
    assert assembly.to_json() == expected


class Open(Episode):
    model_config = ConfigDict(extra="allow")


def test_fields_that_no_class_declares() -> None:
    record: Any = Open(id="e", task=grown().record.task)
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    for value in ("first", {"a": None}, ["then"]):
        record.something = value
        assembly.feed(encoder.encode())
        assert assembly.to_json() == dumped(record)


class Dependent(Episode):
    label: str = "label"

    @field_serializer("label")
    def _say(self, label: str) -> str:
        return f"{label} of {len(self.errors)}"


def test_a_field_whose_serializer_looks_at_others() -> None:
    record = Dependent(id="e", task=grown().record.task)
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    for _ in range(3):
        assembly.feed(encoder.encode())
        assert assembly.to_json() == dumped(record)
        record.errors.append(Error(type="E", message="m"))


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_list_that_is_another_thing_for_a_while() -> None:
    record: Any = grown().record
    record.errors += [Error(type="E", message=f"{number}") for number in range(100)]
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    for errors in (record.errors, tuple(record.errors[:3]), [Error(type="other", message="m")] * 100):
        record.errors = errors
        assembly.feed(encoder.encode())
        assert assembly.to_json() == dumped(record)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_traces_that_are_no_models() -> None:
    record = grown().record
    plain = record.traces[0].to_record()
    record.traces.append(plain)
    exclude = {"num_input_tokens", "num_output_tokens", "num_total_tokens"}  # nobody can count a dict's
    encoder, assembly = DeltaEncoder(record, exclude=exclude), EpisodeAssembly()
    assembly.feed(encoder.encode())
    plain["nodes"].append({"any": "thing"})
    assembly.feed(encoder.encode(last=True))
    assert assembly.to_json() == dumped(record, exclude=exclude)


def test_a_record_that_is_no_object() -> None:
    record = grown().record
    flat = Flat.model_construct(**record.__dict__)
    with pytest.raises(DeltaStateError, match="Flat is not written as an object"):
        DeltaEncoder(flat).encode()


class MyData(TaskData):
    answer: str = ""


def test_generic_episodes_keep_their_own_task() -> None:
    task = TraceTask[MyData](type="t", data=MyData(answer="42"))
    record = Episode[MyData](id="e", task=task, traces=[Trace[MyData](id="t", task=task, agent=trace(1, "x").agent)])
    assembly = EpisodeAssembly()
    assembly.feed(DeltaEncoder(record).encode(last=True))
    assert assembly.to_json() == dumped(record)
    assert assembly.traces[0].get("task")["data"]["answer"] == "42"


def test_many_traces() -> None:
    record = grown(1).record
    record.traces += [trace(number, f"many {number}") for number in range(300)]
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode())
    record.traces[250].nodes.append(node(3, None))
    assembly.feed(encoder.encode())
    assert assembly.to_json() == dumped(record)
    assert assembly.traces[250].num_nodes == 1


def test_a_stream_has_the_records_name_or_another() -> None:
    record = grown().record
    assert peek(DeltaEncoder(record).encode()).stream == record.id
    assert peek(DeltaEncoder(record, stream="rollout 7").encode()).stream == "rollout 7"
