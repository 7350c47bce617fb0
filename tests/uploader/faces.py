"""One way to run the same case through both clients."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from uploader import AsyncTracesClient, TracesClient

KEY = "pk-very-secret-0123456789"
URL = "http://service.test"


class Face:
    """The sync or the async client, called the same way.

    Attributes:
        name: sync or async.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def is_async(self) -> bool:
        return self.name == "async"

    def call(self, transport: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call one method of a fresh client; what it iterates comes as a list."""
        return self.use(transport, lambda client: getattr(client, method)(*args, **kwargs))

    def use(self, transport: Any, action: Callable[[Any], Any], **settings: Any) -> Any:
        settings = {"api_key": KEY, "base_url": URL, "team_id": ""} | settings
        if self.is_async:
            return asyncio.run(self._ause(transport, action, settings))
        with TracesClient(**settings, transport=transport) as client:
            return _listed(action(client))

    async def _ause(self, transport: Any, action: Callable[[Any], Any], settings: dict[str, Any]) -> Any:
        before = asyncio.all_tasks()
        async with AsyncTracesClient(**settings, transport=transport) as client:
            try:
                result = action(client)
                if inspect.isawaitable(result):
                    return await result
                return [item async for item in result] if hasattr(result, "__aiter__") else result
            finally:
                for _ in range(100):  # the loop closes half-read generators of httpx in tasks of its own
                    if asyncio.all_tasks() != before:
                        await asyncio.sleep(0)
                assert asyncio.all_tasks() == before, "a task was left behind"


def _listed(result: Any) -> Any:
    return list(result) if hasattr(result, "__next__") else result


both = pytest.mark.parametrize("face", [Face("sync"), Face("async")], ids=["sync", "async"])


def lines(count: int) -> list[bytes]:
    """Lines of 10 bytes: with `target_batch_bytes=10` each is a batch of its own."""
    return [b'{"n":%03d}\n' % number for number in range(count)]


EACH: dict[str, Any] = {"target_batch_bytes": 10}


def connect_error(_: Any = None) -> Exception:
    return httpx.ConnectError("[Errno 111] Connection refused")
