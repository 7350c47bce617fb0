"""What the async client does where: nothing heavy on the event loop's thread, and no more in memory than it must."""

import hashlib
import os
import threading
import tracemalloc
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from encoder.synthetic import synthetic_episode
from tests.end_to_end.service import oracle
from tests.uploader.faces import KEY
from uploader import AsyncTracesClient
from uploader.compression import GzipCompressor
from uploader.receiver import ReceiverProcess

MIB = 1024 * 1024


class Threads:
    """Which threads did what."""

    def __init__(self) -> None:
        self.of: dict[str, set[int]] = defaultdict(set)

    def note(self, work: str) -> None:
        self.of[work].add(threading.get_ident())


class NotedNetwork(httpx.AsyncHTTPTransport):
    """The network, which notes from where it is used."""

    def __init__(self, threads: Threads) -> None:
        super().__init__()
        self._threads = threads

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._threads.note("send")
        return await super().handle_async_request(request)


class Noted:
    """An episode that notes where it is encoded."""

    def __init__(self, episode: Any, threads: Threads) -> None:
        self._episode = episode
        self._threads = threads

    def iter_json(self) -> Iterator[bytes]:
        for piece in self._episode.iter_json():
            self._threads.note("encode")
            yield piece


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Threads:
    """Note each call of the hash and of the compressor."""
    threads = Threads()
    real_sha256, real_add, real_finish = hashlib.sha256, GzipCompressor.add, GzipCompressor.finish

    class Hash:
        def __init__(self) -> None:
            self._real = real_sha256()
            self.hexdigest = self._real.hexdigest

        def update(self, chunk: bytes) -> None:
            threads.note("hash")
            self._real.update(chunk)

    def add(self: GzipCompressor, chunk: bytes) -> bytes:
        threads.note("compress")
        return real_add(self, chunk)

    def finish(self: GzipCompressor) -> bytes:
        threads.note("compress")
        return real_finish(self)

    monkeypatch.setattr("uploader.sealing.hashlib", SimpleNamespace(sha256=Hash))
    monkeypatch.setattr(GzipCompressor, "add", add)
    monkeypatch.setattr(GzipCompressor, "finish", finish)
    return threads


@pytest.mark.parametrize("is_async_source", [False, True], ids=["sync source", "async source"])
async def test_nothing_is_encoded_hashed_compressed_or_sent_on_the_loop(
    tmp_path: Path, threads: Threads, is_async_source: bool
) -> None:
    episodes = [synthetic_episode(seed, target_bytes=400_000) for seed in range(4)]
    records = [Noted(episode, threads) for episode in episodes]
    reported: set[int] = set()

    async def pulled() -> AsyncIterator[Any]:
        for record in records:
            yield record

    with ReceiverProcess(tmp_path, KEY) as receiver:
        async with AsyncTracesClient(KEY, receiver.url, "", transport=NotedNetwork(threads)) as client:
            await client.upload_records(
                pulled() if is_async_source else records,
                line_format="episode",
                target_batch_bytes=500_000,
                on_batch=lambda *_: reported.add(threading.get_ident()),
            )
            stored = [await client.get_episode_raw(episode.id) for episode in episodes]
    assert stored == [oracle(episode) for episode in episodes]
    assert threads.of.keys() == {"encode", "hash", "compress", "send"}
    for work, where in threads.of.items():
        assert threading.get_ident() not in where, f"the event loop had to {work}"
    assert reported == {threading.get_ident()}


class Bulk:
    """A trace of 4 MiB, which exists only while it is encoded."""

    def __init__(self, number: int) -> None:
        self._number = number

    def iter_json(self) -> Iterator[bytes]:
        yield b'{"version":1,"id":"bulk-%d","nodes":[],"calls":[],"info":{"noise":"' % self._number
        for _ in range(16):
            yield os.urandom(128 * 1024).hex().encode()
        yield b'"}}'


async def test_memory_is_bounded_by_what_is_in_flight(tmp_path: Path) -> None:
    """100 MiB, uncompressed, two requests at a time: no more than a few batches are ever held."""
    with ReceiverProcess(tmp_path, KEY) as receiver:
        async with AsyncTracesClient(KEY, receiver.url, "") as client:
            await client.upload_records([Bulk(1000)], compress=False)  # import and connect first
            tracemalloc.start()
            try:
                receipts = await client.upload_records(
                    map(Bulk, range(25)), compress=False, max_in_flight=2, target_batch_bytes=4 * MIB + 1024
                )
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert len({receipt.upload_id for receipt in receipts}) == 25
            assert (await client.get("bulk-24")).size_bytes > 4 * MIB
    # Two in flight, one that waits for room, one open, and one record on its way into it.
    assert peak < 6 * 4 * MIB
