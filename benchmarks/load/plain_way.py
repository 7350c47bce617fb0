"""The plain way, as a monitor: each episode dumped as a whole in a thread, then one request at a time, with zlib 9."""

import asyncio
import hashlib
import zlib
from typing import Any, Final

import httpx
import orjson

from benchmarks.load.protocol import Depth, Outcome
from encoder import Episode

_LEVEL: Final = 9
_GZIP_BITS: Final = 31
_TIMEOUT_S: Final = 600.0


class PlainWay:
    """Takes episodes as a monitor does.

    Args:
        url: the receiver.
        key: its key.
    """

    def __init__(self, url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}", "X-Prime-Line-Format": "episode"}
        self._url = f"{url}/api/v1/traces"
        self._http = httpx.AsyncClient(headers=headers, timeout=_TIMEOUT_S)
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None
        self._logged = self._taken = self._done = 0

    async def log(self, data: Any, step: int) -> None:
        """Encode an episode, and have it sent; metrics are left out."""
        self._sending = self._sending or asyncio.create_task(self._send_all())
        if isinstance(data, Episode):
            self._logged += 1
            await self._lines.put(await asyncio.to_thread(_line, data))
            self._taken += 1

    async def finalize(self) -> None:
        """Wait until everything is sent."""
        await self._lines.put(None)
        if self._sending is not None:
            await self._sending
        await self._http.aclose()

    def depth(self) -> Depth:
        """How far it is."""
        return Depth(self._logged - self._taken, self._taken, self._done)

    def outcome(self) -> Outcome:
        """What became of everything."""
        return Outcome(requests=self._done, stored=self._done, lost=self._logged - self._done)

    async def _send_all(self) -> None:
        while (line := await self._lines.get()) is not None:
            body = await asyncio.to_thread(_compressed, line)
            headers = {"Idempotency-Key": f"sha256:{await asyncio.to_thread(_digest, line)}"}
            metadata = ("metadata.json", b'{"schema_version": 1}', "application/json")
            traces = ("traces.jsonl", body, "application/x-ndjson", {"Content-Encoding": "gzip"})
            answer = await self._http.post(self._url, headers=headers, files={"metadata": metadata, "traces": traces})
            answer.raise_for_status()
            self._done += 1


def _line(episode: Episode) -> bytes:
    return orjson.dumps(episode.to_record(), option=orjson.OPT_SERIALIZE_NUMPY) + b"\n"


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _compressed(line: bytes) -> bytes:
    compressor = zlib.compressobj(_LEVEL, wbits=_GZIP_BITS)
    return compressor.compress(line) + compressor.flush()
