"""A file holds whole lines, whatever goes wrong on the way to the next."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.uploader.monitors.doubles import read_lines
from uploader.limits import CHUNK_BYTES
from uploader.monitors.appending import AppendedFile
from uploader.monitors.codecs import open_codec

ALL = pytest.mark.parametrize("compress", [None, "gz", "zst"])


class BrokenError(Exception):
    pass


def breaking(pieces: list[bytes]) -> Iterator[bytes]:
    yield from pieces
    raise BrokenError


def opened(path: Path, compress: Any = None) -> AppendedFile:
    return AppendedFile(path, open_codec(compress))


texts = st.lists(st.binary(max_size=20).map(lambda text: text.replace(b"\n", b" ")), min_size=1, max_size=4)
steps = st.lists(
    st.tuples(st.sampled_from(["append", "break", "reopen", "kill"]), texts, st.integers(0, 40)), max_size=8
)


@ALL
@settings(max_examples=40)
@given(steps=steps)
def test_it_holds_the_lines_that_were_appended(compress: Any, steps: list[tuple[str, list[bytes], int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"lines{open_codec(compress).suffix}"
        file, expected = opened(path, compress), []
        for step, pieces, number in steps:
            match step:
                case "append":
                    line = b"".join(pieces) + b"\n"
                    assert file.append([*pieces, b"\n"]) == len(line)
                    expected.append(line[:-1])
                case "break":
                    with pytest.raises(BrokenError):
                        file.append(breaking(pieces))
                case "reopen":
                    file.close()
                    file = opened(path, compress)
                case _:  # within the writing of a line
                    whole = path.read_bytes()
                    file.append([*pieces, b"\n"])
                    file.close()
                    torn = path.read_bytes()[len(whole) :]
                    path.write_bytes(whole + torn[: min(number, len(torn) - 1)])
                    file = opened(path, compress)
            assert file.is_in_place
            assert file.size == path.stat().st_size
            assert read_lines(path) == expected
        file.sync()
        file.close()


def test_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "lines"
    file = opened(path)
    file.append([b"1\n"])
    file.sync()
    file.sync()
    file.close()
    assert path.read_bytes() == b"1\n"


def test_what_was_cut_off_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"1\n234")
    opened(path).close()
    assert path.read_bytes() == b"1\n"
    assert "its last 3 bytes were cut off" in caplog.text


def test_what_is_damaged_is_left_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "lines.gz"
    path.write_bytes(b"somebody's")
    file = opened(path, "gz")
    file.close()
    assert file.is_damaged
    assert path.read_bytes() == b"somebody's"
    assert "is damaged behind its first 0 bytes" in caplog.text


def test_long_pieces_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        sizes.append(len(data))
        return real(descriptor, data[:100_000])  # a disk that takes a part

    monkeypatch.setattr(os, "write", write)
    line = os.urandom(3 * CHUNK_BYTES).replace(b"\n", b" ") + b"\n"
    file = opened(tmp_path / "lines")
    assert file.append([line]) == len(line)
    file.close()
    assert (tmp_path / "lines").read_bytes() == line
    assert max(sizes) <= CHUNK_BYTES


def test_a_file_that_cannot_be_cut_back_is_opened_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    file = opened(path)
    file.append([b"1\n"])

    def refuse(descriptor: int, size: int) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as context:
        context.setattr(os, "ftruncate", refuse)
        with pytest.raises(BrokenError):
            file.append(breaking([b"23"]))
    assert file.is_torn
    assert path.read_bytes() == b"1\n23"
    file.close()
    opened(path).close()
    assert path.read_bytes() == b"1\n"


@pytest.mark.parametrize("change", ["removed", "moved", "replaced", "appended to", "cut"])
def test_a_file_that_others_touched_is_not_in_place(tmp_path: Path, change: str) -> None:
    path = tmp_path / "lines"
    file = opened(path)
    file.append([b"1\n"])
    assert file.is_in_place
    match change:
        case "removed":
            path.unlink()
        case "moved":
            path.rename(tmp_path / "old")
        case "replaced":
            path.rename(tmp_path / "old")
            path.write_bytes(b"1\n")
        case "appended to":
            path.write_bytes(b"1\n2\n")
        case _:
            path.write_bytes(b"")
    assert not file.is_in_place
    file.close()


def test_where_no_file_can_be_nothing_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError):
        opened(tmp_path / "file" / "lines")
    (tmp_path / "torn").write_bytes(b"1")
    monkeypatch.setattr(os, "ftruncate", lambda descriptor, size: os.fstat(-1))
    before = os.open(tmp_path, os.O_RDONLY)
    os.close(before)
    with pytest.raises(OSError):
        opened(tmp_path / "torn")
    after = os.open(tmp_path, os.O_RDONLY)
    os.close(after)
    assert after == before  # the lowest number that is free
