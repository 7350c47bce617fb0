"""The quickstart against its real receiver, on little; and its table."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from encoder.chats import from_messages
from encoder.records import Episode
from tests.uploader.cli.conftest import Command
from uploader import AsyncTracesClient
from uploader.cli.steps import Steps
from uploader.cli.tables import trial_table
from uploader.cli.trial import CountingTransport, Result, Trial, Way
from uploader.receiver import ReceiverProcess

Write = Callable[[str, bytes], Path]


def chat(text: str) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}]}).encode() + b"\n"


def test_synthetic_episodes(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIME_TRACES_URL", "not even a URL")  # nothing of the user's is used
    ran = command("quickstart", "--episodes", 3, "--seed", 5)
    assert ran.code == 0, ran.err
    assert "3 of 3 episodes stored and read back, byte for byte the same." in ran.out
    for name in ("orjson.dumps(to_record())", "to_json()", "encode and upload", "idle", "requests", "compression"):
        assert name in ran.out
    assert max(map(cell_len, ran.out.splitlines())) <= 80
    assert "reading back: 3 of 3" in ran.err


def test_chats(command: Command, write: Write) -> None:
    ran = command("quickstart", "--chats", write("chats.jsonl", b"".join(map(chat, "abcda"))))
    assert ran.code == 0, ran.err
    assert "4 of 4 episodes stored" in ran.out
    assert "1 chat left out" in ran.err


def test_a_chat_that_cannot_be_encoded_is_named_and_set_aside(command: Command, write: Write) -> None:
    ran = command("quickstart", "--chats", write("chats.jsonl", chat("a") + chat("\ud800")))
    assert ran.code == 1
    assert "line 2: $.traces[0].nodes[0].message.content" in ran.err
    assert "1 of 1 episode stored" in ran.out
    assert "1 chat refused" in ran.err


@pytest.mark.parametrize("option", ["--episodes", "--seed"])
def test_what_does_not_apply_to_chats(command: Command, write: Write, option: str) -> None:
    ran = command("quickstart", "--chats", write("chats.jsonl", chat("a")), option, 3)
    assert (ran.code, ran.out) == (2, "")
    assert f"{option} is about synthetic episodes" in ran.err


def test_a_file_without_chats(command: Command, write: Write) -> None:
    ran = command("quickstart", "--chats", write("chats.jsonl", b"\n"))
    assert ran.code == 1
    assert "line 1: the file holds no chat" in ran.err


def episode(text: str) -> Episode:
    return from_messages([{"role": "user", "content": text}])


async def run_trial(receiver: ReceiverProcess, episodes: list[Episode], monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.setattr("uploader.cli.trial.ROUNDS", 1)
    monkeypatch.setattr("uploader.cli.trial._IDLE_S", 0.01)
    transport = CountingTransport()
    async with AsyncTracesClient("any", receiver.url, "", transport=transport) as client:
        return await Trial(episodes, client, transport, Steps(Console(quiet=True))).run()


async def test_what_is_missing_or_differs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An episode whose encodings differ between the ways, or that the service gives back otherwise."""
    episodes = [episode(text) for text in "abc"]
    with ReceiverProcess(tmp_path) as receiver:
        good = await run_trial(receiver, episodes, monkeypatch)
        assert good.is_good
        assert good.stored == 3
        assert good.requests == 1
        # What is read back is compared with an episode that has changed since.
        real = Trial._read_back

        async def changed(trial: Trial) -> None:
            episodes[1].ok = False
            episodes[2].id = "absent"
            await real(trial)

        monkeypatch.setattr(Trial, "_read_back", changed)
        bad = await run_trial(receiver, episodes, monkeypatch)
        assert not bad.is_good
        assert bad.different == [episodes[1].id]
        assert bad.missing == ["absent"]
        monkeypatch.setattr(Trial, "_read_back", real)
        monkeypatch.setattr("uploader.cli.trial.plain_json", lambda episode: b"else")
        assert (await run_trial(receiver, [episode("d")], monkeypatch)).different == [episode("d").id]


def test_the_table_fits_80_columns() -> None:
    def way(name: str) -> Way:
        return Way(name, episodes=99_999, size=10**12, seconds=90_000.0, lags_ms=[[0.1, 9999.9]] * 3)

    result = Result(
        99_999, way("nothing: an idle loop"), way("orjson.dumps(to_record())"), way("to_json()"), way("upload")
    )
    console = Console(width=80)
    with console.capture() as captured:
        console.print(trial_table(result))
    assert max(map(cell_len, captured.get().splitlines())) <= 80
    assert "orjson.dumps(to_record())" in captured.get()
