"""No call is handed more than its slice, on neither side, whatever a delta holds: told by sizes, not times."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import orjson
import pytest
import xxhash

from benchmarks.shapes import all_shapes
from encoder import Episode, MessageNode, UserMessage
from encoder.delta import DeltaEncoder, EpisodeAssembly, ledger, lines, moments, reading, texts
from encoder.splicer import PIECE_BYTES
from tests.encoder.delta.rollouts import Rollout, node, trace
from tests.encoder.handed import Recorder, recorded
from tests.encoder.test_slices import BYTES, MORE, ROW, check
from tests.encoder.test_slices import CALLS as ENCODER_CALLS

# Bytes that are hashed, copied, or read as JSON by one call. A piece that the compiled part wrote by one call is hashed
# by one: 2 MB take a fifth of a millisecond.
HASHED: Final = max(BYTES, ROW)
COPIED: Final = 256 * 1024
READ: Final = 16 * 1024

# Calls of any kind in one step of ours: some hundred microseconds of them. Those of the encoder may be more.
CALLS: Final = 3000


def episode(num_traces: int, num_nodes: int = 0, num_chunks: int = 0) -> Episode:
    record: Episode = Rollout(True).record
    record.traces += [trace(number, f"t{number}") for number in range(num_traces)]
    record.traces[0].nodes += [node(number % 7, None) for number in range(num_nodes)]
    record.traces[0].nodes += [MessageNode(message=UserMessage(content="x" * 100_000))] * num_chunks
    return record


# What the encoder's own test has, as far as a delta is written by other steps: whole fields, rows of nodes and calls.
NAMES: Final = ("100 MB: escapes", "10 M token ids", "1 M keys", "50 MB info", "long nodes", "calls", "rewards")
SHAPES: dict[str, Callable[[], Any]] = {shape.name: shape.build for shape in all_shapes(one_in=50)} | MORE
EPISODES: dict[str, Callable[[], Episode]] = {
    **{name: SHAPES[name] for name in NAMES},
    "many traces": lambda: episode(200),
    "many small nodes": lambda: episode(1, num_nodes=1500),
    "many chunks": lambda: episode(1, num_chunks=60),
}


class Sizes:
    """How much was handed at most to the calls that only deltas make."""

    def __init__(self) -> None:
        self.hashed = self.read = self.copied = 0

    def line(self, line: bytes) -> bytes:
        """A line that notes how much of it is cut out at once."""
        sizes = self

        class Noting(bytes):
            def __getitem__(self, key: Any) -> Any:
                part = super().__getitem__(key)
                sizes.copied = max(sizes.copied, len(part))
                return part

        return Noting(line)

    def xxh3_128(self) -> Any:
        return Hasher(self)

    def loads(self, data: bytes) -> Any:
        self.read = max(self.read, len(data))
        return _loads(data)


class Hasher:
    """Stands for one of xxhash's."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._inner = _xxh3_128()
        self.digest, self.hexdigest = self._inner.digest, self._inner.hexdigest

    def update(self, data: bytes) -> None:
        self._sizes.hashed = max(self._sizes.hashed, len(data))
        self._inner.update(data)


_loads, _xxh3_128 = orjson.loads, xxhash.xxh3_128


@contextmanager
def both_recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Recorder, Sizes]]:
    sizes = Sizes()
    with recorded(monkeypatch) as recorder, monkeypatch.context() as patch:
        patch.setattr(orjson, "loads", sizes.loads)
        patch.setattr(xxhash, "xxh3_128", sizes.xxh3_128)
        yield recorder, sizes


def streamed(record: Episode, sizes: Sizes) -> None:
    """Send a record at once, then again because all of it has changed, and put it together."""
    encoder, assembly = DeltaEncoder(record), EpisodeAssembly()
    assembly.feed(sizes.line(encoder.encode()))
    for one in record.traces:
        for each in one.nodes:
            each.timestamp += 1.0
    pieces = list(encoder.iter_encode(last=True))
    assert all(len(piece) <= PIECE_BYTES + BYTES for piece in pieces)
    assembly.feed([sizes.line(piece) for piece in pieces])
    assert assembly.to_json() == b"".join(assembly.iter_json()) == record.to_json()


def check_all(recorder: Recorder, sizes: Sizes, calls: int = CALLS) -> None:
    for step in recorder.steps:
        check(step)
        assert step.calls <= calls
    assert sizes.hashed <= HASHED
    assert sizes.read <= READ
    assert 0 < sizes.copied <= COPIED


@pytest.mark.parametrize("name", EPISODES)
def test_no_call_is_handed_more_than_its_slice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = EPISODES[name]()
    with both_recorded(monkeypatch) as (recorder, sizes):
        streamed(record, sizes)
    assert len(recorder.steps) > 10
    check_all(recorder, sizes, CALLS if name.startswith("many") else ENCODER_CALLS)


NONE: Final = 10**9


@pytest.mark.parametrize(
    ("module", "name", "make"),
    [
        (moments, "_TRACES_AT_ONCE", lambda: episode(200)),
        (lines, "_OPERATIONS_AT_ONCE", lambda: episode(100)),
        (reading, "_COPIED_AT_ONCE", lambda: episode(1, num_chunks=40)),
        (ledger, "_AT_ONCE", lambda: episode(60)),
        (texts, "_PIECES_AT_ONCE", lambda: episode(100)),
    ],
)
def test_a_call_that_is_handed_too_much_is_seen(
    module: Any, name: str, make: Callable[[], Episode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, NONE)
    with both_recorded(monkeypatch) as (recorder, sizes):
        streamed(make(), sizes)
    with pytest.raises(AssertionError):
        check_all(recorder, sizes)
