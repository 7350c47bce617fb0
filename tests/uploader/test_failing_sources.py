"""A source that fails half-way: what it gave before is sent, then its error is raised."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from uploader import AsyncTracesClient, TracesClient
from uploader.testing import ScriptedTransport, fake_time

LINES = [b'{"line": %d}\n' % number for number in range(4)]


class SourceError(Exception):
    pass


def failing() -> Iterator[bytes]:
    yield from LINES
    raise SourceError


async def afailing() -> AsyncIterator[bytes]:
    for line in LINES:
        yield line
    raise SourceError


@pytest.mark.parametrize("script", [[], [503], [503, 500, 502]])
def test_sync(script: list[int]) -> None:
    stored: list[int] = []
    transport = ScriptedTransport(script)
    with fake_time(), TracesClient("key", transport=transport) as client, pytest.raises(SourceError):
        client.upload_lines(
            failing(), target_batch_bytes=1, on_batch=lambda batch, receipt: stored.append(batch.first_line_number)
        )
    assert stored == [1, 2, 3]  # the fourth was still open


@pytest.mark.parametrize("source", [failing, afailing])
@pytest.mark.parametrize("script", [[], [503], [503, 500, 502]])
async def test_async(script: list[int], source: type) -> None:
    stored: list[int] = []
    with fake_time():
        async with AsyncTracesClient("key", transport=ScriptedTransport(script)) as client:
            with pytest.raises(SourceError):
                await client.upload_lines(
                    source(),
                    target_batch_bytes=1,
                    on_batch=lambda batch, receipt: stored.append(batch.first_line_number),
                )
    assert stored == [1, 2, 3]
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


def test_a_refused_batch_comes_before_the_source() -> None:
    """The first failure in time is the one raised."""
    with TracesClient("key", transport=ScriptedTransport([401])) as client, pytest.raises(Exception, match="401"):
        client.upload_lines(failing(), target_batch_bytes=1, max_in_flight=1)
