"""Axes: where a value lies between 0 and 1, and where the ticks are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Tick = tuple[float, str]


class Scale(Protocol):
    """An axis."""

    def __call__(self, value: float) -> float:
        """Where a value lies, from 0 to 1; what is outside is moved to the edge."""

    def ticks(self) -> Sequence[Tick]:
        """The values to mark, and what to write there."""


@dataclass(frozen=True, slots=True)
class Linear:
    """From 0, evenly."""

    high: float

    def __call__(self, value: float) -> float:
        return _clamped(value / self.high)

    def ticks(self) -> Sequence[Tick]:
        step = _round_step(self.high / 4)
        return [(step * number, f"{step * number:g}") for number in range(math.floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class Log:
    """By powers of ten; `marks` are the ticks, or else the powers are."""

    low: float
    high: float
    marks: tuple[float, ...] = ()

    def __call__(self, value: float) -> float:
        if value <= self.low:
            return 0.0
        return _clamped(math.log(value / self.low) / math.log(self.high / self.low))

    def ticks(self) -> Sequence[Tick]:
        powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
        return [(mark, f"{mark:,g}") for mark in self.marks or [10.0**power for power in powers]]


@dataclass(frozen=True, slots=True)
class Nines:
    """Percents, stretched towards 100: as much room from 90 to 99 as from 0 to 90."""

    most: float = 99.9

    def __call__(self, value: float) -> float:
        rest, least = 100 - min(value, self.most), 100 - self.most
        return _clamped(math.log(100 / rest) / math.log(100 / least))

    def ticks(self) -> Sequence[Tick]:
        return [(mark, f"{mark:g}") for mark in (0, 50, 90, 99, 99.9) if mark <= self.most]


def around(values: Sequence[float]) -> tuple[float, float]:
    """The powers of ten that enclose some positive values."""
    return 10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)) + 1e-9)


def _round_step(about: float) -> float:
    power = 10.0 ** math.floor(math.log10(about))
    return next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= about * (1 - 1e-9))


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))
