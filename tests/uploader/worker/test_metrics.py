"""The figures reach OpenTelemetry as they are."""

from dataclasses import fields
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from tests.conftest import ROOT
from tests.uploader.worker.doubles import TIMEOUT_S, Bench, Broken
from uploader.delivery.stats import SinkStats
from uploader.worker.counts import Counts, EarlierCounts
from uploader.worker.encoding import UNWRITABLE
from uploader.worker.metrics import SINK_STATES, STATES, observe
from uploader.worker.stats import WorkerStats

SUMS = {"retries", "concurrency"}
"""Figures of a worker that are the sums of its sinks'."""


def collected(reader: InMemoryMetricReader) -> dict[str, dict[tuple[str, ...], float]]:
    """Each metric's values by what tells them apart."""
    data: Any = reader.get_metrics_data()
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            assert point.attributes["run"] == "r"
            labels = tuple(value for name, value in sorted(point.attributes.items()) if name != "run")
            found.setdefault(metric.name, {})[labels] = point.value
    return found


def test_what_is_collected_is_what_the_stats_say() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    bench = Bench()
    observe(lambda: bench.worker.stats, {"run": "r"}, provider)
    bench.worker.submit([b"{}", b"[]", Broken(ValueError("no"))])
    assert bench.worker.flush(TIMEOUT_S)
    found = collected(reader)
    assert found["unstall.records"] == {(state,): {"stored": 2, "rejected": 1}.get(state, 0) for state in STATES}
    assert found["unstall.records.submitted"] == {(): 3}
    assert found["unstall.records.lost"] == {(UNWRITABLE, "rejected"): 1}
    stats = bench.worker.stats
    assert found["unstall.bytes"] == {
        ("encoded",): 6,
        ("sealed",): stats.sealed_bytes,
        ("sent",): stats.sent_bytes,
    }
    assert found["unstall.sink.concurrency"] == {("traces",): 8}
    assert found["unstall.sink.retries"] == {("traces",): 0}
    for name in ("queue.bytes", "queue.age", "spool.bytes", "thread.restarts", "events.untold"):
        assert found[f"unstall.{name}"] == {(): 0}
    provider.shutdown()


def test_every_figure_is_collected() -> None:
    numbers = iter(range(1, 100))

    def numbered(kind: Any, skipped: set[str]) -> dict[str, int]:
        return {each.name: next(numbers) for each in fields(kind) if each.name not in skipped}

    earlier = EarlierCounts(**numbered(EarlierCounts, set()))
    counts = Counts(
        **numbered(Counts, {"earlier", "dropped_reasons", "rejected_reasons"}),
        dropped_reasons={"no room": next(numbers)},
        rejected_reasons={"refused": next(numbers)},
        earlier=earlier,
    )
    texts = {"name", "paused_until", "paused_reason", "stopped_reason"}
    sinks = (
        SinkStats(name="a", paused_until=1e9, paused_reason="down", **numbered(SinkStats, texts)),  # type: ignore[arg-type]
        SinkStats(name="b", stopped_reason="key", **numbered(SinkStats, texts)),  # type: ignore[arg-type]
    )
    stats = WorkerStats(counts=counts, sinks=sinks, **numbered(WorkerStats, {"counts", "sinks", *SUMS}))
    last = next(numbers)
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    observe(lambda: stats, {"run": "r"}, provider)
    found = collected(reader)
    assert sorted(value for name, points in found.items() for value in points.values() if not is_flag(name)) == list(
        range(1, last)
    )
    assert found["unstall.sink.records"] == {
        (sink.name, state): getattr(sink, f"{state}_records") for sink in sinks for state in SINK_STATES
    }
    assert found["unstall.sink.paused"] == {("a",): 1, ("b",): 0}
    assert found["unstall.sink.stopped"] == {("a",): 0, ("b",): 1}
    assert found["unstall.records.earlier"][("stored",)] == earlier.stored
    assert found["unstall.bytes.rate"][("sealed",)] == stats.sealed_bytes_per_s
    provider.shutdown()


def is_flag(name: str) -> bool:
    return name in ("unstall.sink.paused", "unstall.sink.stopped")


def test_the_documentation_names_all_of_them() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    stats = WorkerStats(counts=Counts(dropped_reasons={"no room": 1}), sinks=(SinkStats(name="a"),))
    observe(lambda: stats, {"run": "r"}, provider)
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    table = text[text.index("| metric, after `unstall.`") :].partition("\n\n")[0]
    named = {f"unstall.{name}" for row in table.splitlines()[2:] for name in row.split("|")[1].split("`")[1::2]}
    assert named == set(collected(reader))
    provider.shutdown()
