"""Lines that a killed process left unfinished are cut off, in whatever file it had open."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.uploader.monitors.doubles import chat, read_lines
from uploader.errors import ConfigurationError
from uploader.monitors import FileMonitor, Where, mending
from uploader.monitors.chunks import chunk_name, folder_of
from uploader.monitors.codecs import open_codec
from uploader.monitors.mending import mend
from uploader.monitors.open_files import MAX_OPEN

ALL = pytest.mark.parametrize("compress", [None, "gz", "zst"])


def torn(root: Path, where: Where, compress: Any = None, number: int = 0) -> Path:
    """A file of a whole line and a part of one."""
    codec = open_codec(compress)
    path = folder_of(root, where) / (chunk_name(number) + codec.suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for line in (b'{"a":1}\n', b'{"a":22}\n'):
        compressor = codec.compressor()
        lines.append(compressor.add(line) + compressor.finish())
    path.write_bytes(lines[0] + lines[1][:-2])
    return path


@ALL
async def test_files_that_are_not_opened_again_are_mended(
    tmp_path: Path, compress: Any, caplog: pytest.LogCaptureFixture
) -> None:
    wheres = [Where(7), Where(7, "eval", "effective"), Where(6)]
    paths = [torn(tmp_path, where, compress) for where in wheres]
    (tmp_path / "metrics.jsonl").write_bytes(b'{"loss":1}\n{"loss":')
    async with FileMonitor(tmp_path, compress=compress) as monitor:
        await monitor.log(chat(), 8)
    assert [read_lines(path) for path in paths] == [[b'{"a":1}']] * 3
    assert read_lines(tmp_path / "metrics.jsonl") == [b'{"loss":1}']
    assert caplog.text.count("ended within a line") == 4
    assert not (tmp_path / ".file-monitor").exists()


async def test_a_row_of_metrics_is_enough_and_another_compression_no_matter(tmp_path: Path) -> None:
    paths = [torn(tmp_path, Where(step), compress) for step, compress in enumerate((None, "gz", "zst"))]
    async with FileMonitor(tmp_path) as monitor:
        await monitor.log({"loss": 0.5}, 8)
    assert [read_lines(path) for path in paths] == [[b'{"a":1}']] * 3


async def test_what_was_noted_is_mended_whatever_its_step(tmp_path: Path) -> None:
    monitor = FileMonitor(tmp_path)
    for step in range(100, 100 + MAX_OPEN):
        await monitor.log(chat(), step)
    await monitor.log([chat(), chat()], 3)
    assert await monitor.flush()
    note = tmp_path / ".file-monitor" / "open"
    noted = note.read_text().splitlines()
    assert len(noted) == MAX_OPEN
    assert noted[-1] == "rollouts/step_3/train/all"
    await monitor.finalize()
    assert not note.exists()
    path = torn(tmp_path, Where(3))
    mend(tmp_path, [])
    assert path.read_bytes().endswith(b'{"a":22')  # too long ago, without a note
    note.parent.mkdir()
    note.write_text("\n".join(noted))
    async with FileMonitor(tmp_path) as following:
        await following.log(chat(), 200)
    assert read_lines(path) == [b'{"a":1}']


def test_only_the_last_file_of_a_folder_is_looked_at(tmp_path: Path) -> None:
    first, last = torn(tmp_path, Where(0)), torn(tmp_path, Where(0), number=1)
    content = first.read_bytes()
    mend(tmp_path, [])
    assert (first.read_bytes(), read_lines(last)) == (content, [b'{"a":1}'])


@ALL
def test_what_is_whole_is_not_touched(tmp_path: Path, compress: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = torn(tmp_path, Where(0), compress)
    mend(tmp_path, [])
    monkeypatch.setattr(mending, "AppendedFile", None)
    before = path.stat()
    mend(tmp_path, [])
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert read_lines(path) == [b'{"a":1}']


def test_notes_of_other_places_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "traces.jsonl"
    outside.parent.mkdir()
    outside.write_bytes(b"1\n2")
    root = tmp_path / "root"
    mend(root, ["../outside", str(outside.parent), "rollouts/step_1/../../../outside", "", "rollouts/step_9/train/all"])
    assert outside.read_bytes() == b"1\n2"
    assert not root.exists()


def test_what_cannot_be_mended_holds_up_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "metrics.jsonl").mkdir()
    (tmp_path / "rollouts").mkdir()
    (tmp_path / "rollouts" / "step_9").write_bytes(b"no folder")
    (tmp_path / "rollouts" / "step_x").mkdir()
    path = torn(tmp_path, Where(1))
    mend(tmp_path, [])
    assert read_lines(path) == [b'{"a":1}']
    assert "metrics.jsonl may end within a line, which could not be mended" in caplog.text


def test_without_zstd_the_others_are_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_some(compress: Any) -> Any:
        if compress == "zst":
            raise ConfigurationError("compress", "zstd is not installed")
        return open_codec(compress)

    paths = [torn(tmp_path, Where(0), compress) for compress in (None, "gz", "zst")]
    content = paths[2].read_bytes()
    monkeypatch.setattr(mending, "open_codec", open_some)
    mend(tmp_path, [])
    assert [read_lines(path) for path in paths[:2]] == [[b'{"a":1}']] * 2
    assert paths[2].read_bytes() == content


def test_thousands_of_steps_cost_no_more_than_a_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in range(2000):
        (tmp_path / "rollouts" / f"step_{step}").mkdir(parents=True)
    path = torn(tmp_path, Where(1999))
    listed: list[Any] = []
    real = os.listdir

    def listing(folder: Any) -> list[str]:
        listed.append(folder)
        return real(folder)

    monkeypatch.setattr(os, "listdir", listing)
    mend(tmp_path, [])
    assert read_lines(path) == [b'{"a":1}']
    assert len(listed) == 1 + 4 * MAX_OPEN
