"""What is to be reached, and how far it is from there; shown, never asserted."""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from benchmarks.results import Results, Row
from benchmarks.run_bounds import run_verdicts
from benchmarks.verdicts import Verdict
from benchmarks.ways import OURS

P99_LIMIT_MS: Final = 1.5
WORST_LIMIT_MS: Final = 3.0
MEMORY_LIMIT_MB: Final = 4.0
MEMORY_LIMIT_SIZE_MB: Final = 133.0
MEMORY_LIMIT_RATIO: Final = 2.0
OTHERS_LIMIT: Final = 1.1


def plain_limit(tokens: int) -> float:
    """The limit of CPU time against the plain way."""
    return 0.4 if tokens <= 40 else 0.25


def orjson_limit(tokens: int) -> float:
    """The limit of CPU time against orjson alone."""
    return 2.0 if tokens <= 40 else 0.8


def verdicts(results: Results) -> list[Verdict]:
    """One verdict for each bound about which something was measured."""
    cpu, stalls, shapes = results.of("cpu"), results.of("stall"), results.of("shape")
    ours = [row for row in stalls if row.info["way"] in OURS]
    shaped = [row for row in shapes if row.info["way"] in OURS]
    memory = results.of("memory")
    found = [
        *_worst_by_tokens("CPU, / plain", cpu, "plain", plain_limit),
        *_worst_by_tokens("CPU, / orjson", cpu, "orjson alone", orjson_limit),
        _worst("stall, p99", ours, lambda row: row.stall.p99_ms, lambda row: P99_LIMIT_MS, " ms"),
        _worst("stall, worst", ours, lambda row: row.stall.worst_ms, lambda row: WORST_LIMIT_MS, " ms"),
        _worst("shapes, p99", shaped, lambda row: row.stall.p99_ms, lambda row: P99_LIMIT_MS, " ms"),
        _worst("shapes, worst", shaped, lambda row: row.stall.worst_ms, lambda row: WORST_LIMIT_MS, " ms"),
        _worst(
            "memory, iter_json",
            [row for row in memory if row.info["way"] == "iter_json" and row.info["size_mb"] <= MEMORY_LIMIT_SIZE_MB],
            lambda row: row.info["traced_bytes"] / 1e6,
            lambda row: MEMORY_LIMIT_MB,
            " MB",
        ),
        _worst(
            "memory, to_json",
            [row for row in memory if row.info["way"] == "to_json"],
            lambda row: row.info["traced_bytes"] / row.info["bytes"],
            lambda row: MEMORY_LIMIT_RATIO,
            " × JSON",
        ),
        _worst(
            "models of others", results.of("others"), lambda row: row.info["ratios"]["plain"], lambda row: OTHERS_LIMIT
        ),
        *run_verdicts(results),
    ]
    return [verdict for verdict in found if verdict is not None]


def _worst_by_tokens(
    what: str, rows: Iterable[Row], other: str, limit_of: Callable[[int], float]
) -> Iterator[Verdict | None]:
    """One verdict for each number of tokens a node, as their limits differ."""
    by_tokens: dict[int, list[Row]] = {}
    for row in rows:
        by_tokens.setdefault(int(row.info["tokens"]), []).append(row)
    for tokens, alike in sorted(by_tokens.items()):
        limit = limit_of(tokens)
        yield _worst(what, alike, lambda row: row.info["ratios"][other], functools.partial(_same, limit))


def _same(limit: float, _: Row) -> float:
    return limit


def _worst(
    what: str,
    rows: Iterable[Row],
    value_of: Callable[[Row], float],
    limit_of: Callable[[Row], float],
    unit: str = "",
) -> Verdict | None:
    row = max(rows, key=lambda row: value_of(row) / limit_of(row), default=None)
    if row is None:
        return None
    value, limit = round(value_of(row), 2), limit_of(row)  # as exact as it is shown
    return Verdict(what, f"{limit:g}{unit}", f"{value:.2f}{unit}", _where(row), value / limit)


def _where(row: Row) -> str:
    info = row.info
    parts = [info.get("shape"), info.get("model")]
    if "size_mb" in info:
        parts.append(f"{info['size_mb']:g} MB")
    if "tokens" in info:
        parts.append(f"{info['tokens']} tokens")
    parts.append(info.get("way"))
    if "control_worst_ms" in info:
        parts.append(f"control {info['control_p99_ms']:.1f}/{info['control_worst_ms']:.1f}")
    return ", ".join(part for part in parts if part)
