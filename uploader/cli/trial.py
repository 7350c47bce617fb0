"""The quickstart's measurements: encode, upload and read back episodes under a heartbeat of the event loop.

Several rounds alternate between an idle loop, the plain way and ours, under the same probe. A single worst stall says
little, since an idle loop has one now and then; so each way is judged by its 99th percentile and by the median of its
rounds' worst.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import orjson

from encoder.probe import LoopProbe, figures
from encoder.records import Episode
from uploader.async_client import AsyncTracesClient
from uploader.cli.steps import Steps
from uploader.errors import NotFoundError, UploaderError
from uploader.limits import MAX_IN_FLIGHT
from uploader.models import Batch, LineFormat, UploadReceipt

ROUNDS: Final = 3
_IDLE_S: Final = 0.5


@dataclass
class Way:
    """One way of doing it, over all rounds.

    Attributes:
        name: what is done.
        episodes: how many it was done to.
        size: their bytes as JSON.
        seconds: how long it took.
        lags_ms: per round, how late each tick was, in milliseconds.
    """

    name: str
    episodes: int = 0
    size: int = 0
    seconds: float = 0.0
    lags_ms: list[Sequence[float]] = field(default_factory=list)

    @property
    def p99_ms(self) -> float:
        """Ninety-nine of a hundred ticks were less late than this."""
        return figures(self.lags_ms).p99_ms

    @property
    def median_worst_ms(self) -> float:
        """The median of the rounds' worst stalls."""
        return figures(self.lags_ms).worst_ms

    @property
    def worst_ms(self) -> float:
        """The worst stall of all."""
        return max(map(max, self.lags_ms))


@dataclass
class Result:
    """What a trial found.

    Attributes:
        taken: how many episodes there were.
        idle: the loop with nothing to do.
        plain: pydantic and orjson.
        ours: `to_json`.
        upload: encoding, compressing and sending, all at once.
        stored: episodes that the service gave back byte for byte.
        missing: ids that the service does not know.
        different: ids whose bytes differ from what was encoded, or from the plain way's.
        batches: how many batches were committed.
        requests: how many uploads were sent, repeated ones included.
        sent_size: the bytes of their bodies.
    """

    taken: int
    idle: Way = field(default_factory=lambda: Way("nothing: an idle loop"))
    plain: Way = field(default_factory=lambda: Way("orjson.dumps(to_record())"))
    ours: Way = field(default_factory=lambda: Way("to_json()"))
    upload: Way = field(default_factory=lambda: Way("encode and upload"))
    stored: int = 0
    missing: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    batches: int = 0
    requests: int = 0
    sent_size: int = 0

    @property
    def is_good(self) -> bool:
        """Whether everything came back as it was."""
        return self.stored == self.taken and not self.missing and not self.different


class CountingTransport(httpx.AsyncHTTPTransport):
    """Counts the uploads that go through it.

    Attributes:
        requests: how many there were.
        sent_size: the bytes of their bodies.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        self.sent_size = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Count an upload and send it."""
        if request.method == "POST":
            self.requests += 1
            self.sent_size += int(request.headers.get("content-length", 0))
        return await super().handle_async_request(request)


class Trial:
    """Runs the rounds, then reads everything back."""

    def __init__(
        self, episodes: Sequence[Episode[Any]], client: AsyncTracesClient, transport: CountingTransport, steps: Steps
    ) -> None:
        self._episodes = episodes
        self._client = client
        self._transport = transport
        self._steps = steps
        self._result = Result(len(episodes))
        self._digests: dict[str, bytes] = {}

    async def run(self) -> Result:
        """Do all of it.

        Raises:
            UploaderError: an upload failed, or reading back did.
        """
        for number in range(ROUNDS):
            await self._round(self._episodes[number::ROUNDS])
        self._result.requests = self._transport.requests
        self._result.sent_size = self._transport.sent_size
        await self._read_back()
        self._steps.end()
        return self._result

    async def _round(self, episodes: Sequence[Episode[Any]]) -> None:
        result = self._result
        if not episodes:
            return
        async with LoopProbe() as probe:
            await asyncio.sleep(_IDLE_S)
        result.idle.lags_ms.append(probe.lags_ms)
        await self._encode("encoding, the plain way", result.plain, plain_json, episodes)
        await self._encode("encoding, our way", result.ours, our_json, episodes)
        await self._upload(episodes)

    async def _encode(
        self, label: str, way: Way, encode: Callable[[Episode[Any]], bytes], episodes: Sequence[Episode[Any]]
    ) -> None:
        async with LoopProbe() as probe:
            for episode in episodes:
                seconds, size, digest = await asyncio.to_thread(_timed, encode, episode)
                way.episodes += 1
                way.size += size
                way.seconds += seconds
                if self._digests.setdefault(episode.id, digest) != digest:
                    self._result.different.append(episode.id)
                self._steps.show(label, way.episodes, len(self._episodes))
        way.lags_ms.append(probe.lags_ms)

    async def _upload(self, episodes: Sequence[Episode[Any]]) -> None:
        way = self._result.upload

        def on_batch(batch: Batch, receipt: UploadReceipt) -> None:
            self._result.batches += 1
            way.episodes += batch.num_lines
            way.size += batch.size
            self._steps.show("encoding and uploading", way.episodes, len(self._episodes))

        async with LoopProbe() as probe:
            started_s = time.perf_counter()
            await self._client.upload_records(episodes, line_format=LineFormat.EPISODE, on_batch=on_batch)
            way.seconds += time.perf_counter() - started_s
        way.lags_ms.append(probe.lags_ms)

    async def _read_back(self) -> None:
        gate = asyncio.Semaphore(MAX_IN_FLIGHT)
        done = 0

        async def check(episode: Episode[Any]) -> None:
            nonlocal done
            async with gate:
                try:
                    stored = await self._client.get_episode_raw(episode.id)
                except NotFoundError:
                    self._result.missing.append(episode.id)
                else:
                    if await asyncio.to_thread(_is_stored, stored, episode):
                        self._result.stored += 1
                    else:
                        self._result.different.append(episode.id)
                done += 1
                self._steps.show("reading back", done, len(self._episodes))

        try:
            async with asyncio.TaskGroup() as group:
                for episode in self._episodes:
                    group.create_task(check(episode))
        except* UploaderError as errors:
            raise errors.exceptions[0] from None


def plain_json(episode: Episode[Any]) -> bytes:
    """The plain way to write an episode: pydantic, then orjson."""
    return orjson.dumps(episode.to_record(), option=orjson.OPT_SERIALIZE_NUMPY)


def our_json(episode: Episode[Any]) -> bytes:
    """Our way: piece by piece, giving the GIL away each millisecond."""
    return episode.to_json()


def _timed(encode: Callable[[Episode[Any]], bytes], episode: Episode[Any]) -> tuple[float, int, bytes]:
    started_s = time.perf_counter()
    encoded = encode(episode)
    seconds = time.perf_counter() - started_s
    return seconds, len(encoded), hashlib.sha256(encoded).digest()


def _is_stored(stored: bytes, episode: Episode[Any]) -> bool:
    return stored.removesuffix(b"\n") == episode.to_json()
