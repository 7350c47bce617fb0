"""How long the encoder works between two chances to give way: its longest hold of the GIL, whatever the machine does.

A stall that a probe sees also has the machine's share in it. This is the thread's own CPU time of each step, the least
of a few passes, as the encoder takes the same steps each time.
"""

import gc
import time
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel

from encoder import Episode
from encoder.splicer import splice

_PASSES: Final = 2


def longest_step_ms(model: BaseModel) -> float:
    """The milliseconds of the longest step of encoding a model; garbage collection is not in it."""
    passes = [_steps_s(model) for _ in range(_PASSES)]
    longest_s: float = max(map(min, *passes))
    if len(set(map(len, passes))) > 1:  # the first pass had something to prepare
        longest_s = min(map(max, passes))
    return longest_s * 1e3


def _steps_s(model: BaseModel) -> list[float]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return list(_timed(_splice(model)))
    finally:
        if was_enabled:
            gc.enable()


def _timed(steps: Iterator[bytes]) -> Iterator[float]:
    start = time.thread_time()
    for _ in steps:
        yield time.thread_time() - start
        start = time.thread_time()
    yield time.thread_time() - start


def _splice(model: BaseModel) -> Iterator[bytes]:
    if isinstance(model, Episode):
        return splice(model, {"exclude_none": True, "context": {"float_decimals": 4}})
    return splice(model, {})
