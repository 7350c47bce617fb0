"""A folder as a sink."""

import asyncio
import os
from collections.abc import Callable
from typing import Final, ParamSpec

from uploader.delivery.calls import DaemonCalls
from uploader.errors import ConfigurationError, StoreError
from uploader.models import UploadReceipt
from uploader.sinks.base import SinkBatch
from uploader.sinks.layout import StoredName, kind_folder
from uploader.sinks.places import PlaceKind, parse_place
from uploader.sinks.writing import make_folder, translated, write_whole
from uploader.spool.batches import Destination

P = ParamSpec("P")

_THREADS: Final = 4
_PATIENCE_S: Final = 120.0
_SLOWEST_BYTES_PER_S: Final = 50_000
"""A network's file system may hang; its thread is then left behind."""


class FileSink:
    """Keeps batches in a folder, as `<run>/<kind>/<digest>.jsonl.gz`.

    A file is there as a whole or not at all, and the same batch again takes its own place; so any number of producers
    may use one folder. What the run counts as stored would survive a loss of power.

    Args:
        path: the folder, which is made when it is missing.
        name: tells it from other sinks, by default the folder's address.
        destination: whose batches it takes, by default those logged for this folder.

    Raises:
        ConfigurationError: it is no folder.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, name: str | None = None, destination: Destination | None = None
    ) -> None:
        place = parse_place("path", path)
        if place.kind is not PlaceKind.FOLDER:
            raise ConfigurationError("path", f"{path} is no folder on this machine")
        self._root = place.folder
        self._name = name or (destination.sink if destination else str(place))
        self._destination = destination or Destination(self._name, str(place))
        self._calls: DaemonCalls | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def destination(self) -> Destination:
        """Where it writes to."""
        return self._destination

    async def start(self, run_id: str) -> None:
        """Have threads of its own for this event loop, and make the folder.

        Raises:
            StoreRefusedError: this user may not make it.
            StoreError: anything else.
        """
        # Not the sender's threads: a disk that hangs holds up no other sink.
        self._calls = DaemonCalls("uploader-files", _THREADS)
        await self._in_time(_PATIENCE_S, make_folder, self._root)

    async def send(self, batch: SinkBatch) -> UploadReceipt:
        """Write one batch.

        Raises:
            StoreRefusedError: this user may not write there.
            StoreError: anything else.
        """
        sealed = batch.sealed
        name = StoredName(sealed.batch.digest, sealed.content_encoding is not None)
        path = self._root / kind_folder(batch.run_id, batch.line_format) / str(name)
        limit_s = _PATIENCE_S + sealed.compressed_size / _SLOWEST_BYTES_PER_S
        await self._in_time(limit_s, write_whole, path, sealed.pieces, self._root)
        return UploadReceipt(upload_id=sealed.batch.digest, status="committed")

    async def _in_time(self, limit_s: float, function: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        assert self._calls is not None  # noqa: S101 - it was started
        try:
            async with asyncio.timeout(limit_s):
                with translated(self._destination.place):
                    await self._calls.call(function, *args, **kwargs)
        except TimeoutError:
            raise StoreError(self._destination.place, f"the disk did not answer within {limit_s:.0f} s") from None

    async def close(self) -> None:
        """Let the threads end after what they do now."""
        if self._calls is not None:
            self._calls.close()
