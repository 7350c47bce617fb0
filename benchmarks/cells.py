"""A table as text, and what stands in its cells."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.results import Stall


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a heading, rows of text, and what must be said below; the first columns are labels, the rest numbers."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    num_labels: int = 1
    note: str = ""


def stall_cell(stall: Stall) -> str:
    """The 99th percentile and the worst."""
    return f"{milliseconds(stall.p99_ms)}/{milliseconds(stall.worst_ms)}"


def milliseconds(value: float) -> str:
    """A number of milliseconds, to two digits where it is small."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"


def size(size_mb: float) -> str:
    """A size in megabytes or gigabytes."""
    return f"{size_mb / 1000:g} GB" if size_mb >= 1000 else f"{size_mb:g} MB"
