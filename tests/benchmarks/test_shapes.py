import asyncio
import threading
import time

import numpy as np

from benchmarks.shapes import another_thread_appending, at_once, one_node
from benchmarks.ways import plain


def test_one_node_has_the_given_fields() -> None:
    episode = one_node(token_ids=np.arange(5))
    assert episode.traces[0].nodes[-1].token_ids.tolist() == [0, 1, 2, 3, 4]
    assert plain(episode) == episode.to_json()


def test_nodes_are_appended_meanwhile_and_taken_away_again() -> None:
    episode = one_node()
    nodes = episode.traces[0].nodes
    length = len(nodes)
    with another_thread_appending(episode):
        while len(nodes) == length:
            time.sleep(0.001)
    assert len(nodes) == length


def test_works_run_at_once_in_threads() -> None:
    barrier = threading.Barrier(3, timeout=30)
    work = at_once([barrier.wait] * 3)
    assert sorted(work()) == [0, 1, 2]  # type: ignore[call-overload]


async def test_works_run_at_once_on_the_loop() -> None:
    barrier = asyncio.Barrier(3)

    async def work() -> int:
        return await barrier.wait()

    together = at_once([work] * 3)()
    assert sorted(await together) == [0, 1, 2]  # type: ignore[misc]
