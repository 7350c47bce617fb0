from pathlib import Path

import pytest

from uploader.downloads import RawFile, RawMemory


def test_memory_starts_again() -> None:
    memory = RawMemory()
    memory.restart()
    memory.write(b"lost")
    memory.restart()
    memory.write(b"kept ")
    memory.write(b"too")
    assert memory.content() == b"kept too"


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with RawFile(path) as file:
        file.restart()
        file.write(b"a longer first attempt")
        file.restart()
        file.write(b"kept")
        assert not path.exists()
        assert file.keep() == 4
    assert path.read_bytes() == b"kept"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_kept_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"old")
    with RawFile(path) as file:
        file.restart()
        file.write(b"half")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_made_before_the_first_byte(tmp_path: Path) -> None:
    with RawFile(tmp_path / "x"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, RawFile(tmp_path / "no" / "x") as file:
        file.restart()
    assert caught.value.filename == str(tmp_path / "no" / "x")
    with RawFile(tmp_path) as file:
        file.restart()
        with pytest.raises(OSError) as replaced:
            file.keep()
    assert (replaced.value.filename, replaced.value.filename2) == (str(tmp_path), None)


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with RawFile(str(path)) as file:
        file.restart()
        assert file.keep() == 0
    assert path.read_bytes() == b""
