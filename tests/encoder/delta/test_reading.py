"""Lines out of a stream of bytes, and what a line says of itself."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.delta import DeltaEncoder, DeltaInfo, DeltaLines, MalformedDeltaError, peek
from encoder.splicer import PIECE_BYTES
from tests.encoder.delta.rollouts import Rollout


@given(st.lists(st.binary(max_size=20)), st.data())
def test_lines_are_those_of_the_whole_however_it_is_cut(blobs: list[bytes], data: st.DataObject) -> None:
    whole = b"\n".join(blobs)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=10)))
    lines, found = DeltaLines(), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        found += lines.feed(whole[start:end])
    ended, _, rest = whole.rpartition(b"\n")
    expected = [line for line in ended.split(b"\n") if line.strip()] if ended or whole.startswith(b"\n") else []
    assert [b"".join(pieces) for pieces in found] == [line + b"\n" for line in expected]
    assert lines.is_empty == (not rest)


def test_the_pieces_of_a_line_are_few_and_none_is_long() -> None:
    lines = DeltaLines()
    for _ in range(30_000):
        assert lines.feed(b"0123456789") == []
    assert lines.feed(b"x" * (2 * PIECE_BYTES)) == []
    (line,) = lines.feed(b"end\n")
    assert len(b"".join(line)) == 300_004 + 2 * PIECE_BYTES
    assert len(line) < 8
    assert max(map(len, line)) <= 3 * PIECE_BYTES


def test_what_a_line_says_of_itself() -> None:
    encoder = DeltaEncoder(Rollout(True).record)
    line = encoder.encode()
    expected = DeltaInfo("e0", 1, 0, "episode")
    assert peek(line) == peek(line.strip()) == peek([line[:10], line[10:]]) == expected
    last = peek(encoder.encode(last=True))
    assert (last.sequence, last.state) == (1, "last")
    assert peek(encoder.discard()).state == "discarded"
    for other in (b"", b"\n", b"{}", line[:-3], line + line, b" " + line):
        with pytest.raises(MalformedDeltaError):
            peek(other)


def test_a_line_is_json() -> None:
    line = DeltaEncoder(Rollout(True).record).encode()
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    read = orjson.loads(line)
    assert list(read) == ["parts", "ops", "delta", "at"]
    assert line[read["at"] :].startswith(orjson.dumps(read["delta"]))
