"""Measure how a model of the user's encodes: CPU time and loop stalls, beside the plain way.

python -m encoder bench my_package.my_module:my_model
"""

import math
import statistics
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from pydantic import BaseModel

from encoder.encode import aiter_json, iter_json, to_json
from encoder.gaps import Longest, longest_gaps
from encoder.probe import StallFigures, figures
from encoder.records.record import Record
from encoder.trials import Lags, Work, run_trials

DEFAULT_RUNS: Final = 5
_CPU_ROUNDS: Final = 5
_CPU_ROUND_S: Final = 0.005
"""Shorter work is repeated within a round, since a clock says little about microseconds."""

_MAX_REPEATS: Final = 1000
_WAYS: Final = ("plain", "to_json", "iter_json", "aiter_json")

_SMALL_S: Final = 0.001
"""What takes less is shown in microseconds."""

Say = Callable[[str], None]
"""What is told of the progress."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found out about a model.

    Attributes:
        size: bytes of its JSON.
        is_same: whether `to_json` gave the plain way's bytes.
        cpu_s: for "plain", "to_json" and "orjson alone" (on the dict built beforehand) the median CPU seconds.
        stalls: for each way, and for "idle", how late ticks of a loop came.
        longest: the longest that `to_json` worked without being able to give way, and without doing so.
    """

    size: int
    is_same: bool
    cpu_s: Mapping[str, float]
    stalls: Mapping[str, StallFigures]
    longest: Longest


def measure(model: BaseModel, runs: int = DEFAULT_RUNS, say: Say = lambda message: None) -> Measured:
    """Measure a model, every way beside the others.

    Args:
        model: any pydantic model; an episode or a trace is written as its record.
        runs: how often each way is run beside a probed loop.
        say: told what is being done.

    Raises:
        EncodeError: it cannot be encoded.
    """
    say("encoding once")
    body = _to_json(model)
    is_same = body == _dumps(_to_record(model))
    say("CPU time")
    cpu_s = _cpu_seconds(model)
    longest = longest_gaps(lambda: _to_json(model))
    stalls: dict[str, StallFigures] = {}
    idle_runs: list[Lags] = []
    for way, work in _works(model).items():
        trials = run_trials(work, runs, on_run=lambda number, way=way: say(f"stalls of {way}, run {number} of {runs}"))  # type: ignore[misc]
        stalls[way] = trials.stall
        idle_runs += trials.idle_runs
    stalls["idle"] = figures(idle_runs)
    return Measured(len(body), is_same, cpu_s, stalls, longest)


def table(measured: Measured) -> str:
    """Show what was measured, at most 80 columns wide."""
    plain_s = measured.cpu_s["plain"]
    unit, per_second = ("ms", 1e3) if plain_s >= _SMALL_S else ("µs", 1e6)
    verdict = "the same bytes" if measured.is_same else "DIFFERENT BYTES"
    lines = [
        f"{_amount(measured.size)} of JSON, {verdict} both ways",
        "",
        f"{'':<14}{'CPU ' + unit:>9}{'MB/s':>8}{'/ plain':>9}{'p50':>9}{'p99':>9}{'worst':>9}{'ticks':>9}",
    ]
    for name in ("plain", "orjson alone", *_WAYS[1:], "idle"):
        cells = ["", "", ""]
        if name in measured.cpu_s:
            seconds = measured.cpu_s[name]
            cells = [f"{seconds * per_second:.1f}", f"{measured.size / seconds / 1e6:.0f}", f"{seconds / plain_s:.2f}"]
        if name in measured.stalls:
            stall = measured.stalls[name]
            cells += [f"{value:.2f}" for value in (stall.p50_ms, stall.p99_ms, stall.worst_ms)] + [str(stall.ticks)]
        widths = (9, 8, 9, 9, 9, 9, 9)
        lines.append(f"{name:<14}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False)))
    step, slice_ = (_milliseconds(value) for value in (measured.longest.step_ms, measured.longest.slice_ms))
    lines += [
        "",
        f"to_json: longest step {step} ms, longest slice {slice_} ms of CPU time",
        "",
        "p50, p99, worst: how many ms later than asked the 1 ms ticks of an event loop",
        "come meanwhile (worst: the median of the runs' worst). plain: model_dump, then",
        "orjson. idle: the same loop without any work, in the same minutes. step: from",
        "one moment at which the encoder can release the GIL to the next; slice: from",
        "one at which it does to the next.",
    ]
    return "\n".join(line.rstrip() for line in lines)


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _amount(size: int) -> str:
    """A number of bytes in the unit that suits it."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} KB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def _works(model: BaseModel) -> dict[str, Work]:
    async def on_the_loop() -> int:
        size = 0
        async for piece in _aiter_json(model):
            size += len(piece)
        return size

    works: tuple[Work, ...] = (
        lambda: _dumps(_to_record(model)),
        lambda: _to_json(model),
        lambda: sum(map(len, _iter_json(model))),
        on_the_loop,
    )
    return dict(zip(_WAYS, works, strict=True))


def _cpu_seconds(model: BaseModel) -> dict[str, float]:
    record = _to_record(model)
    works: dict[str, Callable[[], object]] = {
        "plain": lambda: _dumps(_to_record(model)),
        "orjson alone": lambda: _dumps(record),
        "to_json": lambda: _to_json(model),
    }
    repeats = {name: _repeats(_once_s(work, 1)) for name, work in works.items()}
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(_CPU_ROUNDS):
        for name, work in works.items():
            seconds[name].append(_once_s(work, repeats[name]))
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def _once_s(work: Callable[[], object], repeats: int) -> float:
    """The CPU seconds that the work takes, once. What it made is let go outside the clock where it is made once."""
    result = None
    start = time.thread_time()
    for _ in range(repeats):
        result = work()
    taken_s = time.thread_time() - start
    del result
    return taken_s / repeats


def _repeats(once_s: float) -> int:
    return min(_MAX_REPEATS, max(1, math.ceil(_CPU_ROUND_S / max(once_s, 1e-9))))


def _dumps(record: object) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY)


# A record has arguments of its own, such as how its floats are rounded.


def _to_record(model: BaseModel) -> object:
    return model.to_record() if isinstance(model, Record) else model.model_dump(mode="json")


def _to_json(model: BaseModel) -> bytes:
    return model.to_json() if isinstance(model, Record) else to_json(model)


def _iter_json(model: BaseModel) -> Iterator[bytes]:
    return model.iter_json() if isinstance(model, Record) else iter_json(model)


def _aiter_json(model: BaseModel) -> AsyncIterator[bytes]:
    return model.aiter_json() if isinstance(model, Record) else aiter_json(model)
