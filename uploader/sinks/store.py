"""An object store as a sink."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from uploader.delivery.calls import DaemonCalls
from uploader.errors import ConfigurationError, StoreError
from uploader.models import UploadReceipt
from uploader.sinks.base import SinkBatch
from uploader.sinks.layout import StoredName, kind_folder
from uploader.sinks.obstores import StoreAccess, claim, obstore_module, open_store, store_error, whole_place
from uploader.sinks.places import PlaceKind, parse_place
from uploader.sinks.writing import sync_up, translated
from uploader.spool.batches import Destination

MULTIPART_BYTES: Final = 16 * 2**20
"""What is larger is sent in parts; a smaller batch in parts would be three requests or more instead of one."""
PART_BYTES: Final = 8 * 2**20
PARTS_AT_ONCE: Final = 4

_PATIENCE_S: Final = 120.0
_SLOWEST_BYTES_PER_S: Final = 50_000
"""An attempt may take two minutes, and what the slowest line needs for the bytes."""


class ObjectStoreSink:
    """Keeps batches in an object store, as `<prefix>/<run>/<kind>/<digest>.jsonl.gz`: S3, GCS, Azure, or a folder.

    A batch is there as a whole or not at all, and the same batch again takes its own place; so any number of producers
    may use one prefix. Needs the extra `stores`.

    Args:
        url: `s3://bucket/prefix`, `gs://…`, `az://container/prefix`, `abfss://…`, or `file:///folder`. What is not
            secret may follow: `?endpoint=https://host`, `region`, and `account` of `az`.
        name: tells it from other sinks, by default the address.
        config: obstore's settings of the store, such as keys; what is not given there is taken from the environment,
            like AWS_ACCESS_KEY_ID. They are not kept in the spool.
        client_options: obstore's settings of the HTTP client.
        credential_provider: obstore's, for credentials that change.
        destination: whose batches it takes, by default those logged for this address.

    Raises:
        ConfigurationError: a setting cannot be used, or obstore is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        config: Mapping[str, Any] | None = None,
        client_options: Mapping[str, Any] | None = None,
        credential_provider: Any = None,
        destination: Destination | None = None,
    ) -> None:
        place = parse_place("url", url)
        if place.kind is PlaceKind.SERVICE:
            raise ConfigurationError("url", f"{url} is no object store: a traces service is what TracesSink sends to")
        access = StoreAccess(config or {}, client_options or {}, credential_provider)
        self._place = whole_place(place, access.config)
        self._store = open_store(self._place, access)
        self._put = obstore_module().put_async
        self._name = name or (destination.sink if destination else str(self._place))
        self._destination = destination or Destination(self._name, str(self._place))
        self._calls: DaemonCalls | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def destination(self) -> Destination:
        """Where it sends to."""
        return self._destination

    async def start(self, run_id: str) -> None:
        """Get ready for this event loop.

        Raises:
            StoreRefusedError: this process was forked from one that had sent to an object store.
        """
        claim(self._place)
        self._calls = DaemonCalls("uploader-store", 1)

    async def send(self, batch: SinkBatch) -> UploadReceipt:
        """Send one batch, once.

        Raises:
            StoreRefusedError: the credentials are refused.
            StoreBusyError: the store asks for fewer requests.
            PayloadTooLargeError: something on the way takes no body of this size.
            StoreError: anything else, no answer in time among it.
        """
        sealed = batch.sealed
        is_gzip = sealed.content_encoding is not None
        folder = kind_folder(batch.run_id, batch.line_format)
        path = f"{folder}/{StoredName(sealed.batch.digest, is_gzip)}"
        await self._send(path, sealed.pieces, sealed.compressed_size, is_gzip=is_gzip)
        if self._place.kind is PlaceKind.FOLDER:
            await self._sync(path)
        return UploadReceipt(upload_id=sealed.batch.digest, status="committed")

    async def _send(self, path: str, pieces: tuple[bytes, ...], size: int, *, is_gzip: bool) -> None:
        limit_s = _PATIENCE_S + size / _SLOWEST_BYTES_PER_S
        kept_with_it = {"Content-Type": "application/gzip" if is_gzip else "application/x-ndjson"}
        try:
            async with asyncio.timeout(limit_s):
                await self._put(
                    self._store,
                    path,
                    pieces,
                    attributes=None if self._place.kind is PlaceKind.FOLDER else kept_with_it,
                    use_multipart=size > MULTIPART_BYTES,
                    chunk_size=PART_BYTES,
                    max_concurrency=PARTS_AT_ONCE,
                )
        except TimeoutError:
            raise StoreError(str(self._place), f"no whole answer within {limit_s:.0f} s") from None
        except Exception as error:  # noqa: BLE001 - obstore raises its own and Python's
            raise store_error(self._place, error) from None

    async def _sync(self, path: str) -> None:
        """The package leaves it to the operating system when a file reaches the disk."""
        assert self._calls is not None  # noqa: S101 - it was started
        with translated(str(self._place)):
            await self._calls.call(sync_up, self._place.folder / path, self._place.folder.parent)

    async def close(self) -> None:
        """Let go of the thread; obstore closes its connections itself."""
        if self._calls is not None:
            self._calls.close()
