from pathlib import Path

import pytest

from uploader.cli.outfile import whole_file


def test_it_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with whole_file(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before")

    def write_half() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    link.symlink_to(target)
    with whole_file(link) as file:
        file.write(b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"


def test_a_device_is_not_replaced() -> None:
    with whole_file(Path("/dev/null")) as file:
        file.write(b"lost")
    assert not Path("/dev/null").is_file()
