"""What the reports need of pytest-benchmark's JSON, as typed rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Stall:
    """Stall figures in milliseconds (see `encoder.probe.StallFigures`), and their distribution.

    Attributes:
        curve: percents of ticks, and the lag that so many do not exceed.
    """

    p50_ms: float
    p99_ms: float
    worst_ms: float
    curve: list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Row:
    """One benchmark.

    Attributes:
        name: as pytest has it.
        kind: which table and plot it belongs to.
        info: its `extra_info`.
        seconds: the median over its rounds.
    """

    name: str
    kind: str
    info: Mapping[str, Any]
    seconds: float

    @property
    def stall(self) -> Stall:
        """How late ticks came while it ran."""
        return _stall(self.info, "")

    @property
    def idle(self) -> Stall:
        """How late they came on an idle loop beside it."""
        return _stall(self.info, "idle_")


@dataclass(frozen=True, slots=True)
class Results:
    """One run of the benchmarks.

    Attributes:
        rows: the benchmarks in the order they ran.
        machine: where and on what they ran, in words.
        date: ISO 8601.
    """

    rows: list[Row]
    machine: str
    date: str

    def of(self, kind: str) -> list[Row]:
        """The benchmarks of a kind."""
        return [row for row in self.rows if row.kind == kind]


def read_results(output: Mapping[str, Any]) -> Results:
    """Read what pytest-benchmark wrote, or is about to write."""
    rows = [
        Row(item["name"], item["extra_info"]["kind"], item["extra_info"], item["stats"]["median"])
        for item in output["benchmarks"]
        if "kind" in item["extra_info"]
    ]
    return Results(rows, _machine(output["machine_info"]), str(output["datetime"]))


def _machine(info: Mapping[str, Any]) -> str:
    cpu = info.get("cpu") or {}
    python = f"{info.get('python_implementation', 'Python')} {info.get('python_version', '')}"
    where = (
        f"{python}, {info.get('system', '')}, {cpu.get('count', '?')} × {cpu.get('brand_raw') or info.get('machine')}"
    )
    load = info.get("load")
    return where if load is None else f"{where}, {load:.1f} processes busy at the start"


def _stall(info: Mapping[str, Any], prefix: str) -> Stall:
    return Stall(info[f"{prefix}p50_ms"], info[f"{prefix}p99_ms"], info[f"{prefix}worst_ms"], info[f"{prefix}curve"])
