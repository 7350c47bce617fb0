"""A real receiver in its own process, shared by a module's tests or made for one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from uploader.receiver import ReceiverProcess

Serve = Callable[..., httpx.Client]


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiverProcess]:
    with ReceiverProcess(tmp_path_factory.mktemp("receiver")) as process:
        yield process


@pytest.fixture(scope="module")
def client(receiver: ReceiverProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=receiver.url, timeout=60) as http:
        yield http


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a receiver with settings of its own and gives a client for it."""
    with ExitStack() as stack:

        def start(api_key: str | None = None, **settings: Any) -> httpx.Client:
            process = stack.enter_context(ReceiverProcess(tmp_path / "data", api_key, **settings))
            return stack.enter_context(httpx.Client(base_url=process.url, timeout=60))

        yield start
