"""One of our clients and a real receiver in its own process, and what every case needs of both."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from encoder import Episode, Trace
from tests.uploader.faces import KEY, Face
from uploader.receiver import ReceiverProcess

_READERS = 4


class Service:
    """A receiver, called through the sync or the async client.

    Attributes:
        face: which client.
        receiver: the process; it may be replaced by another one on the same directory.
        data_dir: where it stores.
    """

    def __init__(self, face: Face, receiver: ReceiverProcess, data_dir: Path) -> None:
        self.face = face
        self.receiver = receiver
        self.data_dir = data_dir

    def call(self, method: str, *args: Any, api_key: str = KEY, **kwargs: Any) -> Any:
        """Call one method of a fresh client; what it iterates comes as a list."""
        return self.face.use(
            None,
            lambda client: getattr(client, method)(*args, **kwargs),
            base_url=self.receiver.url,
            api_key=api_key,
        )

    def read_all(self, method: str, names: Iterable[str]) -> list[bytes]:
        """The raw records of these names, in order, all with one client."""
        found: list[bytes] = self.face.use(
            None, lambda client: self._read_all(getattr(client, method), list(names)), base_url=self.receiver.url
        )
        return found

    def _read_all(self, read: Any, names: list[str]) -> Any:
        if not self.face.is_async:
            return [read(name) for name in names]
        gate = asyncio.Semaphore(_READERS)

        async def one(name: str) -> Any:
            async with gate:
                return await read(name)

        return asyncio.gather(*map(one, names))

    def stored_files(self) -> set[str]:
        """The digests of the uploads whose lines lie in the receiver's directory."""
        return {path.stem for path in self.data_dir.glob("lines/*/*.gz")}


@contextlib.contextmanager
def running(face: Face, data_dir: Path, **settings: Any) -> Iterator[Service]:
    """A service that is up inside the `with` block."""
    receiver = ReceiverProcess(data_dir, KEY, **settings)
    service = Service(face, receiver, data_dir)
    try:
        yield service
    finally:
        service.receiver.stop()


def oracle(record: Episode[Any] | Trace[Any]) -> bytes:
    """The slow and obvious way to write a record."""
    return orjson.dumps(record.to_record(), option=orjson.OPT_SERIALIZE_NUMPY)
