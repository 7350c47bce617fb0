import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from uploader.errors import StoreError, StoreRefusedError
from uploader.sinks import writing
from uploader.sinks.writing import make_folder, translated, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_whole_and_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "run" / "episode" / "a.jsonl"
    for content in (b"first", b"second one"):
        write_whole(path, [content[:3], b"", content[3:]], tmp_path)
        assert path.read_bytes() == content
    assert names(path.parent) == ["a.jsonl"]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_whole(path, [b"whole"], tmp_path)

    def pieces() -> Iterator[bytes]:
        yield b"half"
        assert [name for name in names(tmp_path) if name.endswith(".part")]
        assert path.read_bytes() == b"whole"
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        write_whole(path, pieces(), tmp_path)
    assert (names(tmp_path), path.read_bytes()) == (["a.jsonl"], b"whole")


def test_the_file_is_synced_before_its_name_and_every_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    path = tmp_path / "run" / "episode" / "a.jsonl"
    monkeypatch.setattr(os, "fsync", lambda file: done.append(os.readlink(f"/proc/self/fd/{file}")))
    replace = Path.replace

    def noted(self: Path, target: Path) -> Path:
        done.append(f"-> {target}")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", noted)
    write_whole(path, [b"x"], tmp_path)
    assert done[0].endswith(".part")
    assert done[1:] == [f"-> {path}", *map(str, (path.parent, path.parent.parent, tmp_path))]


def test_a_write_that_takes_a_part_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.FileIO):
        def write(self, content: Any, /) -> int:
            return super().write(content[:3])

    monkeypatch.setattr(writing, "open", lambda path, mode, buffering: Slow(path, mode), raising=False)
    write_whole(tmp_path / "a", [b"0123456789"], tmp_path)
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_folders_are_made_once(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, StoreRefusedError),
        (errno.EROFS, StoreRefusedError),
        (errno.ENOSPC, StoreError),
        (errno.EIO, StoreError),
        (errno.ETIMEDOUT, StoreError),
    ],
)
def test_errors_of_the_disk(number: int, kind: type[StoreError]) -> None:
    with pytest.raises(StoreError) as caught, translated("file:///data"):
        raise OSError(number, os.strerror(number))
    assert type(caught.value) is kind
    assert str(caught.value) == f"file:///data: {os.strerror(number)}"
