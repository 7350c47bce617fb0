import os
from collections.abc import Iterator

import pytest

from tests.uploader.spool.support import seal
from uploader.models import LineFormat
from uploader.spool.aside import MAX_ASIDE_BYTES, Aside

TRACE = LineFormat.TRACE


def failing() -> Iterator[bytes]:
    yield b'{"a": '
    raise ValueError("no")


@pytest.mark.parametrize("compress", [True, False])
def test_a_batch_is_kept_with_its_lines(compress: bool) -> None:
    aside = Aside()
    aside.add(TRACE, seal(b"1\n", b"2\n", compress=compress), "bad")
    (kept,) = aside.kept
    assert (kept.line_format, kept.num_records, kept.reason, kept.content) == (TRACE, 2, "bad", b"1\n2\n")


def test_of_a_record_that_fails_there_is_what_could_be_written() -> None:
    aside = Aside()
    aside.add_lines(TRACE, failing(), "cannot be written", 1)
    aside.add_lines(TRACE, iter(()), "nor can this", 1)
    assert [kept.content for kept in aside.kept] == [b'{"a": ', b""]


def test_no_more_than_there_is_room_for() -> None:
    aside = Aside()
    half = os.urandom(MAX_ASIDE_BYTES // 2 - 100_000)  # gzip makes nothing smaller of it

    def chunks() -> Iterator[bytes]:
        while True:
            yield half

    for number in range(3):
        aside.add_lines(TRACE, iter([half]), f"{number}", 1)
    aside.add_lines(TRACE, chunks(), "without end", 1)
    aside.add(TRACE, seal(b"small\n"), "small")
    assert [kept.reason for kept in aside.kept] == ["0", "1", "small"]
    assert sum(len(piece) for kept in aside.kept for piece in kept.pieces) <= MAX_ASIDE_BYTES
    assert aside.kept[0].content == half
