import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from uploader.errors import SpoolError, SpoolFullError
from uploader.spool import files


def test_files_and_folders_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    files.make_folder(folder)
    files.make_folder(folder)
    assert files.write_file(folder / "file", [b"one", b"two"]) == 6
    assert (folder / "file").read_bytes() == b"onetwo"
    assert stat.S_IMODE(os.stat(folder / "file").st_mode) == 0o600
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (folder, folder.parent)] == [0o700, 0o700]


def test_a_folder_of_the_users_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    files.make_folder(tmp_path / "mine")
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        files.make_folder(tmp_path / "file" / "folder")


def test_one_call_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    write = os.write

    def counted(descriptor: int, piece: bytes) -> int:
        sizes.append(len(piece))
        return write(descriptor, piece)

    monkeypatch.setattr(os, "write", counted)
    files.write_file(tmp_path / "file", [b"x" * 200_000] * 3)
    assert sizes == [200_000] * 3


def test_a_short_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, piece: write(descriptor, piece[:2]))
    assert files.write_file(tmp_path / "file", [b"12345", b"67"]) == 7
    assert (tmp_path / "file").read_bytes() == b"1234567"


def test_reading_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write_file(path, [b"x" * 600_000])
    assert [len(piece) for piece in files.read_pieces(path)] == [262_144, 262_144, 75_712]
    assert sum(map(len, files.read_pieces(path, 10))) == 11  # one too many says that the file is too long
    assert sum(map(len, files.read_pieces(path, 600_000))) == 600_000


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"kept")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError):
        files.write_file(tmp_path / "link", [b"lost"])
    assert (tmp_path / "target").read_bytes() == b"kept"


def test_what_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert files.remove(missing) is False
    assert files.remove_folder(missing) is False
    assert files.sync(missing) is False
    assert files.list_folder(missing) == []
    assert files.file_size(missing) is None
    (tmp_path / "file").touch()
    assert files.remove_folder(tmp_path) is False
    assert files.remove(tmp_path / "file") is True
    assert files.remove_folder(tmp_path) is True


def test_sync_reaches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Any] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    assert files.sync(tmp_path)
    assert synced == [tmp_path.stat().st_ino]


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, SpoolFullError), (errno.EDQUOT, SpoolFullError), (errno.EROFS, SpoolError)]
)
def test_errors_are_the_spools(number: int, kind: type[SpoolError]) -> None:
    with pytest.raises(kind) as caught, files.translated(Path("/x")):
        raise OSError(number, os.strerror(number))
    assert type(caught.value) is kind
    assert caught.value.path == "/x"
    assert isinstance(caught.value.__cause__, OSError)
