"""The side that receives: what it takes, what it refuses and what it is then."""

import asyncio
import pickle
import sys
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder import Episode, EvalRunInfo
from encoder.delta import (
    DamagedRecordError,
    DeltaEncoder,
    DeltaError,
    DeltaStateError,
    DeltaVersionError,
    EpisodeAssembly,
    ForeignDeltaError,
    LostDeltaError,
    MalformedDeltaError,
)
from encoder.errors import EncoderError
from encoder.synthetic import synthetic_episode
from tests.encoder.delta.rollouts import RUNS, Rollout, dumped, node, trace
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id


def stream(num_lines: int = 4) -> tuple[Any, list[bytes]]:
    """A record, and the lines that it was sent in; the last of them is the last one."""
    record = Rollout(True).record
    record.traces += [trace(1, "t1"), trace(2, "t2")]
    encoder, lines = DeltaEncoder(record), []
    for number in range(num_lines - 1):
        record.traces[number % 2].nodes.append(node(number + 1, None))
        lines.append(encoder.encode())
    return record, [*lines, encoder.encode(last=True)]


def fed(lines: list[bytes]) -> EpisodeAssembly:
    assembly = EpisodeAssembly()
    for line in lines:
        assert assembly.feed(line)
    return assembly


def state_of(assembly: EpisodeAssembly) -> Any:
    body = assembly.to_json() if assembly.attempt and not assembly.is_discarded else None
    return (body, assembly.attempt, assembly.sequence, assembly.is_complete, assembly.is_discarded, assembly.stream)


def test_a_lost_delta_is_noticed_and_can_be_made_up_for() -> None:
    record, lines = stream()
    assembly = fed(lines[:1])
    before = state_of(assembly)
    with pytest.raises(LostDeltaError, match="delta 2 of 'e0', attempt 1, came where 1 should") as caught:
        assembly.feed(lines[2])
    error = caught.value
    assert (error.stream, error.attempt, error.expected, error.got) == ("e0", 1, 1, 2)
    assert state_of(assembly) == before
    for line in lines[1:]:
        assembly.feed(line)
    assert assembly.is_complete
    assert assembly.to_json() == dumped(record)


def test_a_lost_beginning() -> None:
    _, lines = stream()
    with pytest.raises(LostDeltaError) as caught:
        EpisodeAssembly().feed(lines[1])
    assert (caught.value.expected, caught.value.got) == (0, 1)


def test_a_lost_end_is_seen_by_its_absence() -> None:
    _, lines = stream()
    assert not fed(lines[:-1]).is_complete


@pytest.mark.parametrize("position", range(4))
def test_a_line_that_comes_again_is_passed_over(position: int) -> None:
    record, lines = stream()
    assembly = fed(lines)
    before = state_of(assembly)
    assert not assembly.feed(lines[position])
    assert state_of(assembly) == before
    assert assembly.to_json() == dumped(record)


def test_after_a_loss_the_sender_restarts() -> None:
    record = synthetic_episode(3, num_nodes=5, tokens_per_node=10)
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode())
    record.ok = not record.ok
    assert encoder.encode()  # lost
    record.traces[0].nodes.append(node(3, None))
    with pytest.raises(LostDeltaError):
        assembly.feed(encoder.encode())
    encoder.restart()
    assembly.feed(encoder.encode())
    assert (assembly.attempt, assembly.sequence) == (2, 1)
    assert assembly.to_json() == dumped(record)


def test_a_discarded_attempt_is_void_and_so_are_its_late_lines() -> None:
    first = synthetic_episode(1, num_nodes=5, tokens_per_node=10)
    second = synthetic_episode(2, num_nodes=4, tokens_per_node=10)
    encoder, assembly = DeltaEncoder(first, stream="rollout"), EpisodeAssembly()
    early = encoder.encode()
    assembly.feed(early)
    late = encoder.encode(last=True)
    assert assembly.feed(encoder.discard())
    assert assembly.is_discarded
    with pytest.raises(DeltaStateError, match="discarded"):
        assembly.to_json()
    assert not assembly.feed(early)
    assert not assembly.feed(late)
    encoder.restart(second)
    assembly.feed(encoder.encode())
    assert not assembly.is_discarded
    assert not assembly.feed(late)
    assert not assembly.is_complete
    assembly.feed(encoder.encode(last=True))
    assert assembly.to_json() == dumped(second)


def test_a_discard_counts_even_where_something_before_it_was_lost() -> None:
    record = synthetic_episode(1, num_nodes=5, tokens_per_node=10)
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode())
    record.ok = not record.ok
    assert encoder.encode()  # lost
    assert assembly.feed(encoder.discard())
    assert assembly.is_discarded
    assert not EpisodeAssembly().is_discarded


def test_a_new_attempt_needs_no_discard() -> None:
    record = synthetic_episode(1, num_nodes=5, tokens_per_node=10)
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode(last=True))
    encoder.restart()
    del record.traces[0].nodes[1:]
    assembly.feed(encoder.encode())
    assert not assembly.is_complete
    assert assembly.to_json() == dumped(record)


def test_a_line_of_another_stream() -> None:
    _, lines = stream()
    foreign = DeltaEncoder(synthetic_episode(1, num_nodes=2), stream="other").encode()
    assembly = fed(lines[:1])
    with pytest.raises(ForeignDeltaError, match="'other', fed to the assembly of 'e0'"):
        assembly.feed(foreign)
    assert assembly.feed(lines[1])
    with pytest.raises(ForeignDeltaError):
        EpisodeAssembly(stream="mine").feed(lines[0])


def changed(line: bytes, **said: Any) -> bytes:
    """A line that says something else of itself."""
    at = line.rindex(b',"at":')
    start = int(line[at + 6 : -2])
    return line[:start] + orjson.dumps(orjson.loads(line[start:at]) | said) + line[at:]


@pytest.mark.parametrize("version", [2, 0, None, "1", True])
def test_a_version_that_is_not_known(version: Any) -> None:
    _, lines = stream()
    with pytest.raises(DeltaVersionError, match="only version 1 is known") as caught:
        EpisodeAssembly().feed(changed(lines[0], version=version))
    assert caught.value.version == version


def test_nothing_follows_the_last_one() -> None:
    _, lines = stream()
    assembly = fed(lines)
    with pytest.raises(MalformedDeltaError):
        assembly.feed(changed(lines[1], sequence=4))
    with pytest.raises(MalformedDeltaError):
        fed(lines[:1]).feed(changed(lines[1], kind="trace"))
    discarded = fed([lines[0], changed(lines[1], state="discarded")])
    with pytest.raises(MalformedDeltaError):
        discarded.feed(lines[2])


@pytest.mark.parametrize(
    "said",
    [
        {"stream": 3},
        {"attempt": -1},
        {"attempt": 1.0},
        {"sequence": True},
        {"kind": "rollout"},
        {"kind": ["episode"]},
        {"state": None},
        {"state": "last"},
        {"digest": "00"},
        {"ops": None},
        {"ops": [1]},
        {"ops": [10**9]},
        {"ops": []},
    ],
    ids=stable_id,
)
def test_a_line_that_says_nonsense_of_itself(said: dict[str, Any]) -> None:
    _, lines = stream()
    with pytest.raises(MalformedDeltaError):
        EpisodeAssembly().feed(changed(lines[0], **said))


def line_of(group: bytes, parts: bytes = b"") -> bytes:
    """A line that comes next behind the first one of `stream()`, with this group of operations."""
    info = orjson.loads(stream()[1][1])["delta"] | {"ops": [len(group)]}
    head = b'{"parts":[' + parts + b'],"ops":[' + group + b'],"delta":'
    return head + orjson.dumps(info) + b',"at":%d}\n' % len(head)


@pytest.mark.parametrize(
    ("operations", "parts"),
    [
        ([], "1"),
        (["shape"], ""),
        ([[]], ""),
        ([["sing", 0]], ""),
        ([["shape", None, ["id", "id"], []]], ""),
        ([["shape", -1, [], []]], ""),
        ([["shape", None, ["id", "more"], []]], ""),
        ([["shape", None, [], ["nodes"]]], ""),
        ([["shape", 7, [], []]], ""),
        ([["value", None, "id", 0]], ""),
        ([["value", None, "id", 5]], ""),
        ([["value", None, "id", 1]], "12"),
        ([["value", None, "id", 1], ["value", None, "env", 1]], "1;2"),
        ([["items", 0, "nodes", 5, 1, 2]], "[]"),
        ([["items", 0, "nodes", 0, 1, 1]], "1"),
        ([["items", 0, "nodes", 0, 1, 2]], "1]"),
        ([["items", 0, "nodes", 0, 1, 2]], "[1"),
        ([["traces", [0, 0]]], ""),
        ([["keep", 0, "nodes", None]], ""),
        ({}, ""),
        (None, ""),
    ],
    ids=stable_id,
)
def test_operations_that_cannot_be(operations: Any, parts: str) -> None:
    _, lines = stream()
    assembly = fed(lines[:1])
    before = state_of(assembly)
    group = b"no json" if operations is None else orjson.dumps(operations)
    with pytest.raises(MalformedDeltaError):
        assembly.feed(line_of(group, parts.encode()))
    assert state_of(assembly) == before
    assert assembly.feed(lines[1])


@pytest.mark.parametrize("said", [b"", b"{", b"[1]", b"{}", b"x" * 2_000_000], ids=len)
def test_a_line_that_says_nothing_of_itself(said: bytes) -> None:
    head = b'{"parts":[],"ops":[],"delta":'
    with pytest.raises(MalformedDeltaError):
        EpisodeAssembly().feed(head + said + b',"at":%d}' % len(head))


def test_a_chunk_that_has_none_before_it() -> None:
    _, lines = stream()
    with pytest.raises(MalformedDeltaError, match="too few for 1"):
        fed(lines[:1]).feed(lines[1].replace(b'["items",1,"nodes",0,', b'["items",1,"nodes",1,'))


def test_a_changed_value_is_noticed_at_the_end() -> None:
    _, lines = stream()
    assembly = fed([lines[0].replace(b'"id":"t1"', b'"id":"t9"').replace(b'"t1"', b'"t9"'), *lines[1:-1]])
    before = state_of(assembly)
    with pytest.raises(DamagedRecordError, match="have the sender restart") as caught:
        assembly.feed(lines[-1])
    assert caught.value.expected != caught.value.got
    assert state_of(assembly) == before


RECORD, LINES = stream(5)


@oracle_settings(300)
@given(st.data())
def test_damaged_bytes_never_make_another_record(data: st.DataObject) -> None:
    """Cut off, or a byte changed, wherever: it is an error of ours, or noticed at the end."""
    position = data.draw(st.integers(0, len(LINES) - 1))
    line = LINES[position]
    # Most bytes are values; what a line says of itself stands at its end.
    where = data.draw(st.integers(0, len(line) - 1) | st.integers(max(0, len(line) - 400), len(line) - 1))
    byte = data.draw(st.none() | st.integers(0, 255))
    damaged = line[:where] if byte is None else line[:where] + bytes([byte]) + line[where + 1 :]
    assembly = EpisodeAssembly()
    try:
        for number, sound in enumerate(LINES):
            before = state_of(assembly)
            assembly.feed(damaged if number == position else sound)
    except DeltaError:
        assert state_of(assembly) == before
    else:
        # A later attempt or another number that was read makes what follows stale: then the record is not complete.
        assert not assembly.is_complete or assembly.to_json() == dumped(RECORD)


@oracle_settings(100)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_other_bytes_are_no_delta(data: bytes) -> None:
    with pytest.raises(MalformedDeltaError):
        EpisodeAssembly().feed(data)


@pytest.mark.parametrize("line", ["text", 5, None, [1, 2]])
def test_what_is_not_even_bytes(line: Any) -> None:
    with pytest.raises(TypeError):
        EpisodeAssembly().feed(line)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_other_kinds_of_bytes(kind: Any) -> None:
    record, lines = stream()
    assembly = EpisodeAssembly()
    for number, line in enumerate(lines):
        sent = kind(line.rstrip(b"\n") + (b"\r\n" if number % 2 else b""))
        assembly.feed([sent[:5], sent[5:7], b"", sent[7:]] if number % 2 else sent)
    assert assembly.to_json() == dumped(record)


def test_the_run_is_said_on_arrival_or_later() -> None:
    record, lines = stream()
    early, late = EpisodeAssembly(run=RUNS[1]), EpisodeAssembly()
    for line in lines:
        assert orjson.loads(line)
        early.feed(line)
        late.feed(line)
    assert early.to_json() == dumped(record, RUNS[1])
    assert late.to_json() == dumped(record)
    late.record_run(RUNS[0])
    assert late.to_json() == dumped(record, RUNS[0])
    assert Episode.model_validate_json(late.to_json()).traces[1].run == RUNS[0]


def test_a_trace_alone_keeps_its_nulls_also_in_the_run() -> None:
    alone = trace(1, "alone")
    assembly = EpisodeAssembly(run=RUNS[1])
    assembly.feed(DeltaEncoder(alone).encode(last=True))
    assert assembly.kind == "trace"
    assert b'"policy":null' in assembly.to_json()
    assert assembly.to_json() == dumped(alone, RUNS[1])


def test_what_has_arrived_can_be_looked_at() -> None:
    record, lines = stream(8)
    assembly = EpisodeAssembly()
    assert (assembly.kind, assembly.attempt, assembly.stream) == (None, 0, None)
    with pytest.raises(DeltaStateError, match="no delta"):
        assembly.iter_json()
    assert not assembly.traces
    for line in lines:
        assembly.feed(line)
    assert assembly.stream == "e0"
    assert assembly.record.id == "e0"
    assert assembly.record.get("ok") is False
    assert assembly.record.get("nothing", 3) == 3
    seen = assembly.traces[0]
    assert (seen.id, seen.num_nodes, seen.num_calls, seen.pending) == ("t1", 4, 0, [])
    nodes = orjson.loads(dumped(record))["traces"][0]["nodes"]
    assert seen.get("nodes") == nodes
    assert seen.newest("nodes") == nodes[-1:]
    assert seen.newest("calls") == seen.newest("task") == []


def test_a_record_is_read_while_more_arrives() -> None:
    record = synthetic_episode(3, target_bytes=400_000)
    nodes = record.traces[0].nodes.copy()
    record.traces[0].nodes = nodes[:-2]
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(encoder.encode())
    before = dumped(record)
    pieces = assembly.iter_json()
    first = next(pieces)
    record.traces[0].nodes = nodes
    assembly.feed(encoder.encode())
    assert first + b"".join(pieces) == before
    assert assembly.to_json() == dumped(record)


async def test_tasks_take_turns() -> None:
    record = synthetic_episode(3, target_bytes=2_000_000)
    nodes = record.traces[0].nodes.copy()
    del record.traces[0].nodes[:]
    encoder, lines = DeltaEncoder(record), []
    for start in range(0, len(nodes), 10):
        record.traces[0].nodes += nodes[start : start + 10]
        lines.append(encoder.encode())
    lines.append(encoder.encode(last=True))
    assembly = EpisodeAssembly()
    assert await asyncio.gather(*map(assembly.afeed, lines)) == [True] * len(lines)
    assert assembly.is_complete
    assert assembly.to_json() == dumped(record)


def test_an_assembly_takes_the_memory_of_its_record() -> None:
    record = synthetic_episode(3, target_bytes=1_500_000)
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    encoder.preview(record.traces[0], [{"role": "tool", "content": "x" * 100_000}])
    line = encoder.encode()
    held = sys.getrefcount(line)
    assembly.feed(line)
    assert sys.getrefcount(line) == held  # what was cut out is a copy, so that the line can go
    size = sum(
        sys.getsizeof(piece)
        for holder in (assembly._ledger.record, *assembly._ledger.traces.values())
        for text in (*holder.values.values(), *(text for chunks in holder.chunks.values() for text in chunks))
        for piece in text.pieces
    )
    assert size < 1.05 * len(assembly.to_json())


def test_an_assembly_is_let_go_a_little_at_a_time() -> None:
    record = synthetic_episode(3, target_bytes=1_500_000)
    assembly = EpisodeAssembly()
    line = DeltaEncoder(record).encode(last=True)
    assembly.feed(line)
    pieces = assembly.iter_json()
    first = next(pieces)
    assert len(list(assembly.let_go())) > 4
    assert first + b"".join(pieces) == record.to_json()  # who is at it keeps what it needs
    with pytest.raises(DeltaStateError):
        assembly.to_json()
    assert assembly.feed(line)
    assert assembly.to_json() == record.to_json()


def test_errors_can_be_pickled_and_are_of_one_tree() -> None:
    errors: list[DeltaError] = [
        DeltaStateError("not now"),
        DeltaVersionError(2, 1),
        ForeignDeltaError("a", "b"),
        LostDeltaError("a", 1, 2, 3),
        MalformedDeltaError("no"),
        DamagedRecordError("a", "0", "1"),
    ]
    for error in errors:
        assert isinstance(error, EncoderError)
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), vars(copy), str(copy)) == (type(error), vars(error), str(error))


def test_another_run_than_the_senders() -> None:
    record, _ = stream()
    record.record_run(EvalRunInfo(id="the server's"))
    assembly = EpisodeAssembly()
    assembly.feed(DeltaEncoder(record).encode(last=True))
    assert assembly.to_json() == dumped(record)
    assembly.record_run(RUNS[0])
    assert assembly.to_json() == dumped(record, RUNS[0])
