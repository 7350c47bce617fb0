"""What the runs showed, as it is kept."""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.load.cases import Case


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a case.

    Attributes:
        case: what was measured.
        found: what the measured process said; empty if it failed.
        beside: the lags of the idle loop beside it.
        delivered: how many episodes are where they belong.
        doubled: how many are there more than once, or were never logged.
        faults: those that were thrown in: names, and when they began.
        problem: why there is nothing; None if there is.
    """

    case: Case
    found: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)
    delivered: int = 0
    doubled: int = 0
    faults: list[tuple[str, float]] = field(default_factory=list)
    problem: str | None = None

    @property
    def lost(self) -> int:
        """How many logged episodes are nowhere."""
        return int(self.found["episodes"]) - self.delivered

    @property
    def mb_per_s(self) -> float:
        """JSON delivered, from the first `log` to the end of `finalize`."""
        return float(self.found["bytes"] / self.found["seconds"] / 1e6)

    @property
    def peak_mb(self) -> float | None:
        """By how much the process's memory grew at most; None where that cannot be told."""
        peak: int | None = self.found["peak_bytes"]
        return None if peak is None else peak / 1e6


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured.

    Attributes:
        measurements: in order.
        machine: where, in words.
        date: ISO 8601.
    """

    measurements: list[Measurement]
    machine: str
    date: str

    def to_dict(self) -> dict[str, Any]:
        """What can be written as JSON."""
        return asdict(self)

    def runs(self) -> list[list[Measurement]]:
        """Those that showed something, the runs of each case together."""
        found: dict[str, list[Measurement]] = {}
        for measured in self.measurements:
            if measured.found:
                found.setdefault(measured.case.name, []).append(measured)
        return list(found.values())


def read_results(values: Mapping[str, Any]) -> Results:
    """The opposite of `Results.to_dict`."""
    measurements = [
        Measurement(**{**each, "case": Case(**each["case"]), "faults": [tuple(fault) for fault in each["faults"]]})
        for each in values["measurements"]
    ]
    return Results(measurements, values["machine"], values["date"])


def new_results() -> Results:
    """None yet, of this machine and this moment."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    where = f"{python}, {platform.system()}, {os.cpu_count()} × {_processor()}"
    if hasattr(os, "getloadavg"):
        where += f", {os.getloadavg()[0]:.1f} processes busy at the start"
    return Results([], where, datetime.now(UTC).isoformat(timespec="seconds"))


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
