"""A process that logs to W&B offline, all warnings but those of its import being errors.

    python -m tests.uploader.monitors.wandb_child FOLDER HOW

`HOW` is `end`, to finalize, or `exit`, to leave that to the interpreter's exit.
"""

import asyncio
import sys
import warnings

from encoder.synthetic import synthetic_episode
from uploader.monitors import WandbMonitor, finalize, log, setup

STEPS = (0, 2, 1, 3)


async def main(monitor: WandbMonitor, how: str) -> None:
    setup(monitor)
    for step in STEPS:
        await log([synthetic_episode(10 * step + number, num_nodes=4, tokens_per_node=50) for number in range(6)], step)
        await log({"loss": 1.0 / (step + 1), "nan": float("nan")}, step)
        await log({"reward": 0.5}, step, kind="eval")
    assert await monitor.flush(60)
    if how == "end":
        await finalize()
    assert (monitor.stats.failures, monitor.stats.dropped) == (0, 0), monitor.stats
    print(monitor.stats.sampled)


if __name__ == "__main__":
    made = WandbMonitor(project="unstall", dir=sys.argv[1], id="run1", episodes_per_step=3)  # it imports W&B
    warnings.simplefilter("error")
    asyncio.run(main(made, sys.argv[2]))
    warnings.simplefilter("ignore")  # W&B's own temporary files, at the exit
