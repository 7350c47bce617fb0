"""Every worker of a test is closed at its end, so that no thread is left for others."""

from collections.abc import Iterator

import pytest

from tests.uploader.worker import doubles


@pytest.fixture(autouse=True)
def closed_workers() -> Iterator[None]:
    doubles.workers.clear()
    yield
    for worker in doubles.workers:
        worker.close(0)
