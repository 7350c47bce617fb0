import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from encoder.chats import from_messages
from encoder.records import Episode
from tests.conftest import ROOT
from tests.uploader.cli.conftest import Command, start

Write = Callable[[str, bytes], Path]

CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def chat_line(content: str, **others: object) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": content}], **others}).encode() + b"\n"


def test_chats_become_episodes(command: Command, write: Write, tmp_path: Path) -> None:
    chats = write("chats.jsonl", chat_line("a", reward=0.5, source="s") + b"\n" + json.dumps(CHAT).encode())
    output = tmp_path / "episodes.jsonl"
    ran = command("convert", chats, "-o", output)
    assert ran.code == 0
    assert "2 episodes" in ran.err
    lines = output.read_bytes().splitlines(keepends=True)
    messages = [{"role": "user", "content": "a"}]
    expected = [from_messages(messages, reward=0.5, info={"source": "s"}), from_messages(CHAT)]
    assert lines == [episode.to_json() + b"\n" for episode in expected]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes], write: Write) -> None:
    from uploader.cli.app import run

    assert run(["convert", str(write("chats.jsonl", chat_line("a"))), "-o", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["traces"][0]["nodes"][0]["message"]["content"] == "a"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{\n", "not JSON: "),
        (b'"\xff"\n', "not UTF-8"),
        (b"{}\n", "not a chat"),
        (b'{"messages": "text"}\n', "not a chat"),
        (b'{"messages": [], "reward": "high"}\n', "a reward is a number"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
        (b'{"messages": [{"role": "user", "content": "\\ud800"}]}\n', "$.traces[0].nodes[0].message.content"),
    ],
)
def test_a_bad_chat_is_named_and_the_others_written(
    command: Command, write: Write, tmp_path: Path, bad: bytes, reason: str
) -> None:
    chats = write("chats.jsonl", chat_line("before") + bad + chat_line("after"))
    output = tmp_path / "episodes.jsonl"
    ran = command("convert", chats, "-o", output)
    assert ran.code == 1
    assert "chats.jsonl, line 2: " in ran.err
    assert reason in ran.err
    assert "2 episodes" in ran.err
    assert "1 chat refused" in ran.err
    contents = [Episode.model_validate_json(line).traces[0].nodes[0] for line in output.read_bytes().splitlines()]
    assert [node.message.content for node in contents] == ["before", "after"]


def test_what_can_be_kept_is_kept(command: Command, write: Write, tmp_path: Path) -> None:
    big = b'{"messages": [{"role": "user", "content": "a", "x": 99999999999999999999}], "y": 99999999999999999999}\n'
    output = tmp_path / "episodes.jsonl"
    ran = command("convert", write("chats.jsonl", big + b'{"messages": [1, "two"]}\n'), "-o", output)
    assert ran.code == 0
    numbers, texts = (Episode.model_validate_json(line).traces[0] for line in output.read_bytes().splitlines())
    assert numbers.info == {
        "y": "99999999999999999999",
        "unmapped": {"messages[0]": {"x": "99999999999999999999"}},
    }
    assert [(node.message.role, node.message.content) for node in texts.nodes] == [("user", "1"), ("user", "two")]


def test_the_same_chat_twice_is_written_once(command: Command, write: Write, tmp_path: Path) -> None:
    output = tmp_path / "episodes.jsonl"
    ran = command("convert", write("chats.jsonl", chat_line("a") * 3), "-o", output)
    assert ran.code == 0
    assert "2 duplicates left out" in ran.err
    assert len(output.read_bytes().splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{}\n"])
def test_nothing_to_write_leaves_the_output_alone(
    command: Command, write: Write, tmp_path: Path, content: bytes
) -> None:
    output = tmp_path / "episodes.jsonl"
    output.write_bytes(b"before")
    ran = command("convert", write("chats.jsonl", content), "-o", output)
    assert ran.code == 1
    assert "line 1: " in ran.err
    assert output.read_bytes() == b"before"


def test_usage(command: Command, write: Write, tmp_path: Path) -> None:
    chats = write("chats.jsonl", chat_line("a"))
    assert command("convert", chats).code == 2
    assert command("convert", tmp_path / "absent", "-o", "-").code == 2
    ran = command("convert", chats, "-o", tmp_path / "absent" / "episodes.jsonl")
    assert ran.code == 1
    assert ran.err == f"uploader: {tmp_path / 'absent' / 'episodes.jsonl'}: No such file or directory\n"


@pytest.mark.parametrize("kind", ["the same", "another spelling", "a symbolic link", "a hard link", "a linked folder"])
def test_the_chats_are_never_overwritten(command: Command, write: Write, tmp_path: Path, kind: str) -> None:
    chats = write("chats.jsonl", chat_line("a"))
    output = {
        "the same": chats,
        "another spelling": tmp_path / "folder" / ".." / "chats.jsonl",
        "a symbolic link": tmp_path / "link",
        "a hard link": tmp_path / "hard",
        "a linked folder": tmp_path / "linked" / "chats.jsonl",
    }[kind]
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(chats)
    (tmp_path / "hard").hardlink_to(chats)
    (tmp_path / "linked").symlink_to(tmp_path)
    for source, place in ((chats, output), (output, chats)):
        ran = command("convert", source, "-o", place)
        assert (ran.code, ran.out) == (2, "")
        assert "is the file of the chats itself" in ran.err
    assert chats.read_bytes() == chat_line("a")


def test_the_chats_are_never_appended_to(write: Write) -> None:
    """A shell's `>>` on the chats would be read again, and so for ever."""
    chats = write("chats.jsonl", chat_line("a"))
    command = [sys.executable, "-P", "-m", "uploader", "convert", str(chats), "-o", "-"]
    with chats.open("ab") as appended:
        ran = subprocess.run(command, stdout=appended, stderr=subprocess.PIPE, cwd=ROOT, check=False, timeout=60)
    assert ran.returncode == 2
    assert chats.read_bytes() == chat_line("a")


@pytest.mark.parametrize("size", [1, 100_000])  # of which the first stays in a buffer until the end
def test_a_full_disk_is_said_of_the_output(command: Command, write: Write, size: int) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    ran = command("convert", write("chats.jsonl", chat_line("a" * size)), "-o", "/dev/full")
    assert (ran.code, ran.err) == (1, "uploader: /dev/full: No space left on device\n")


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    """The chats come through a pipe that stays open, so the command is certainly at work."""
    chats, output = tmp_path / "chats", tmp_path / "episodes.jsonl"
    os.mkfifo(chats)
    process = start("convert", chats, "-o", output)
    with chats.open("wb", buffering=0) as pipe:
        pipe.write(b"{}\n")
        assert process.stderr is not None
        assert "line 1" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [chats]


def test_real_chats(command: Command, trajectories_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "episodes.jsonl"
    assert command("convert", trajectories_path, "-o", output).code == 0
    assert len(output.read_bytes().splitlines()) > 600


def test_edge_chats(command: Command, edge_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "episodes.jsonl"
    ran = command("convert", edge_path, "-o", output)
    assert ran.code == 1
    lines = edge_path.read_bytes().split(b"\n")
    surrogates = [number for number, line in enumerate(lines, 1) if b"surrogate" in line.partition(b'"edge":')[2]]
    for number in surrogates:
        assert f"line {number}: $.traces[0].nodes[" in ran.err
    assert len(output.read_bytes().splitlines()) + ran.err.count(", line ") == len([*filter(None, lines)])


def test_a_reader_that_goes_away(write: Write) -> None:
    chats = write("chats.jsonl", b"".join(chat_line(f"{number} " * 1000) for number in range(1000)))
    process = start("convert", chats, "-o", "-")
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert "Broken pipe" in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
