"""The files of one step: which is continued, and when the next begins."""

from pathlib import Path
from typing import Any

import pytest

from tests.uploader.monitors.doubles import read_lines
from uploader.monitors import Where
from uploader.monitors.appending import AppendedFile
from uploader.monitors.chunks import Chunks, chunk_name, folder_of
from uploader.monitors.codecs import open_codec


def new(folder: Path, compress: Any = None, chunk_bytes: int | None = 10) -> Chunks:
    return Chunks(folder, open_codec(compress), chunk_bytes, AppendedFile.close)


def append(chunks: Chunks, *lines: bytes) -> None:
    for line in lines:
        chunks.current().append([line, b"\n"])


def close(chunks: Chunks) -> None:
    file = chunks.take()
    assert file is not None
    assert chunks.file is None
    file.close()


def found(folder: Path) -> dict[str, list[bytes]]:
    return {path.name: read_lines(path) for path in sorted(folder.iterdir(), key=lambda path: path.name)}


def test_where_they_are(tmp_path: Path) -> None:
    assert folder_of(tmp_path, Where(7, "eval", "effective")) == tmp_path / "rollouts/step_7/eval/effective"
    assert [chunk_name(number) for number in (0, 1, 1000)] == [
        "traces.jsonl",
        "traces_001.jsonl",
        "traces_1000.jsonl",
    ]


def test_the_line_that_takes_a_file_to_its_size_ends_it(tmp_path: Path) -> None:
    chunks = new(tmp_path)
    append(chunks, b"1234", b"5678", b"9", b"a" * 50, b"b")
    close(chunks)
    assert found(tmp_path) == {
        "traces.jsonl": [b"1234", b"5678"],
        "traces_001.jsonl": [b"9", b"a" * 50],
        "traces_002.jsonl": [b"b"],
    }


@pytest.mark.parametrize("compress", [None, "gz", "zst"])
def test_the_last_one_is_continued(tmp_path: Path, compress: Any) -> None:
    suffix = open_codec(compress).suffix
    for line in (b"1", b"2", b"3" * 100, b"4" * 100):
        chunks = new(tmp_path, compress, 40)
        append(chunks, line)
        close(chunks)
    names = found(tmp_path)
    assert [line for lines in names.values() for line in lines] == [b"1", b"2", b"3" * 100, b"4" * 100]
    assert set(names) >= {f"traces.jsonl{suffix}", f"traces_001.jsonl{suffix}"}


def test_files_of_another_compression_are_not_continued(tmp_path: Path) -> None:
    for number, compress in enumerate((None, "gz", "zst", "gz")):
        chunks = new(tmp_path, compress)
        append(chunks, str(number).encode() * 20)
        close(chunks)
    (tmp_path / "traces_004.jsonl.tmp").write_bytes(b"")
    assert set(found(tmp_path)) == {
        "traces.jsonl",
        "traces.jsonl.gz",
        "traces_001.jsonl.gz",
        "traces.jsonl.zst",
        "traces_004.jsonl.tmp",
    }


def test_there_may_be_one_file_of_any_size(tmp_path: Path) -> None:
    chunks = new(tmp_path, chunk_bytes=None)
    append(chunks, *[b"1" * 100] * 5)
    close(chunks)
    assert found(tmp_path) == {"traces.jsonl": [b"1" * 100] * 5}


def test_a_damaged_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "traces.jsonl.gz").write_bytes(b"somebody's")
    chunks = new(tmp_path, "gz")
    append(chunks, b"1")
    close(chunks)
    assert (tmp_path / "traces.jsonl.gz").read_bytes() == b"somebody's"
    assert read_lines(tmp_path / "traces_001.jsonl.gz") == [b"1"]


def test_a_file_that_was_taken_away_is_begun_anew(tmp_path: Path) -> None:
    chunks = new(tmp_path, chunk_bytes=None)
    append(chunks, b"1")
    (tmp_path / "traces.jsonl").unlink()
    append(chunks, b"2")
    (tmp_path / "traces.jsonl").rename(tmp_path / "old")
    append(chunks, b"3")
    close(chunks)
    assert found(tmp_path) == {"old": [b"2"], "traces.jsonl": [b"3"]}
