"""A trial from nothing: the episodes, a receiver in its own process, the event loop."""

import asyncio
import gc
import random
import secrets
import tempfile
from pathlib import Path
from typing import Any, Final

import typer

from encoder.records import Episode
from encoder.synthetic import synthetic_episode
from uploader.async_client import AsyncTracesClient
from uploader.cli.chats import convert_file
from uploader.cli.checking import BadLineError
from uploader.cli.output import counted, report_error, shown
from uploader.cli.steps import Steps
from uploader.cli.trial import CountingTransport, Result, Trial
from uploader.receiver import ReceiverProcess

MIN_EPISODE_BYTES: Final = 2_000_000
MAX_EPISODE_BYTES: Final = 10_000_000


def run_trial(chats: Path | None, count: int, seed: int, steps: Steps) -> tuple[Result, int]:
    """Run a trial on the chats of a file, or on synthetic episodes; everything it stored is removed.

    Returns:
        What it found, and how many chats were refused.

    Raises:
        ReceiverStartError: the receiver did not start.
        UploaderError: an upload or reading back failed, or the file holds no chat.
        OSError: the file cannot be read.
    """
    # All settings are given, so that none comes from the environment or from a file.
    key = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="unstall-") as folder, ReceiverProcess(folder, key) as receiver:
        if chats is None:
            episodes, refused = make_episodes(count, seed, steps), 0
        else:
            episodes, refused = read_chats(chats, steps)
        result = asyncio.run(_try(episodes, receiver.url, key, steps))
    return result, refused


def make_episodes(count: int, seed: int, steps: Steps) -> list[Episode[Any]]:
    """Synthetic episodes of 2 to 10 MB; the same seed makes the same."""
    sizes = random.Random(seed)
    episodes: list[Episode[Any]] = []
    for number in range(count):
        size = sizes.randint(MIN_EPISODE_BYTES, MAX_EPISODE_BYTES)
        episodes.append(synthetic_episode(seed * count + number, target_bytes=size))
        steps.show("making episodes", number + 1, count)
    return episodes


def read_chats(path: Path, steps: Steps) -> tuple[list[Episode[Any]], int]:
    """The episodes of a file of chats, and how many chats cannot become one; these are named.

    Raises:
        BadLineError: there is no chat in it.
        OSError: the file cannot be read.
    """
    episodes: list[Episode[Any]] = []
    refused = duplicates = 0
    for converted in convert_file(path):
        if converted.episode is not None:
            episodes.append(converted.episode)
        elif converted.is_duplicate:
            duplicates += 1
        else:
            refused += 1
            report_error(f"{shown(path)}, line {converted.line_number}: {converted.problem}")
    if duplicates:
        typer.echo(f"{counted(duplicates, 'chat')} left out: the same as earlier ones", err=True)
    if not episodes:
        raise BadLineError(str(path), 1, "the file holds no chat that can be encoded")
    steps.show("reading chats", len(episodes), len(episodes))
    return episodes, refused


async def _try(episodes: list[Episode[Any]], url: str, key: str, steps: Steps) -> Result:
    gc.freeze()  # as the README advises: a full collection stalls the loop, whoever encodes
    transport = CountingTransport()
    async with AsyncTracesClient(key, url, "", transport=transport) as client:
        return await Trial(episodes, client, transport, steps).run()
