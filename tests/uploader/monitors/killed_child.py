"""A process that logs to a folder until it is killed:
`python -m tests.uploader.monitors.killed_child FOLDER COMPRESS FIRST STEP`.

It prints the number of each episode that a flush has confirmed.
"""

import asyncio
import sys
from typing import Any

from encoder import Episode
from encoder.synthetic import synthetic_episode
from uploader.monitors import FileMonitor

CHUNK_BYTES = 1_000_000
ROUND = 1003
"""The numbers of one process: each has episodes of its own, ten by turns."""


def episode(number: int) -> Episode[Any]:
    """The episode of a number: several pieces long, so that a kill finds it half written."""
    return synthetic_episode(number // ROUND * 10 + number % ROUND % 10, num_nodes=8, tokens_per_node=800)


async def main(folder: str, compress: Any, first: int, step: int) -> None:
    monitor = FileMonitor(folder, chunk_bytes=CHUNK_BYTES, compress=compress)
    for number in range(first, first + 10_000):
        await monitor.log(episode(number), step)
        await monitor.log({"number": number}, step)
        if number % 5 == 4 and await monitor.flush():
            print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] or None, int(sys.argv[3]), int(sys.argv[4])))
