"""The figures reach OpenTelemetry as they are."""

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from tests.uploader.worker.doubles import TIMEOUT_S, Bench, Broken
from uploader.worker.encoding import UNWRITABLE
from uploader.worker.metrics import STATES, observe


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
    for name in ("queue.bytes", "queue.age", "spool.bytes", "thread.restarts"):
        assert found[f"unstall.{name}"] == {(): 0}
    provider.shutdown()
