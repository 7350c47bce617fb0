"""A worker's figures as OpenTelemetry metrics (extra `otel`).

    observe(lambda: worker.stats, {"run": run_id})

The states of `unstall.records` are those of `Counts`, read of one frozen object: they add up.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerStats

STATES: Final = ("queued", "encoding", "spooled", "in_flight", "stored", "dropped", "rejected")

Labelled: TypeAlias = Iterator[tuple[float, dict[str, str]]]


def observe(
    stats: Callable[[], WorkerStats],
    attributes: Mapping[str, str] | None = None,
    meter_provider: MeterProvider | None = None,
) -> None:
    """Have a worker's figures collected for as long as the process lives.

    Args:
        stats: gives the figures of the moment.
        attributes: what all metrics carry, like the run's id.
        meter_provider: by default the global one.
    """
    meter = metrics.get_meter("unstall", meter_provider=meter_provider)
    common = dict(attributes or {})

    def callback(read: Callable[[WorkerStats], Labelled]) -> Callable[[CallbackOptions], Iterable[Observation]]:
        return lambda _: [Observation(value, {**common, **labels}) for value, labels in read(stats())]

    def gauge(name: str, unit: str, description: str, read: Callable[[WorkerStats], Labelled]) -> None:
        meter.create_observable_gauge(f"unstall.{name}", [callback(read)], unit, description)

    def counter(name: str, unit: str, description: str, read: Callable[[WorkerStats], Labelled]) -> None:
        meter.create_observable_counter(f"unstall.{name}", [callback(read)], unit, description)

    gauge("records", "{record}", "Records by the state that they are in", _states)
    counter("records.submitted", "{record}", "Records that were submitted", _one(lambda its: its.submitted))
    counter("records.lost", "{record}", "Records that were dropped or set aside, by reason", _lost)
    counter("bytes", "By", "Bytes by what was done with them", _bytes)
    gauge("queue.bytes", "By", "Bytes of JSON that are queued, estimated", _one(lambda its: its.queued_bytes))
    gauge("queue.age", "s", "Age of the oldest queued record", _one(lambda its: its.oldest_queued_age_s))
    gauge("spool.bytes", "By", "Sealed batches that wait", _one(lambda its: its.kept_bytes))
    gauge("sink.concurrency", "{request}", "Requests that may be in flight", _each("concurrency"))
    counter("sink.retries", "{request}", "Requests that were repeated", _each("retries"))
    counter("thread.restarts", "{restart}", "Escapes of the worker's threads", _one(lambda its: its.restarts))


def _one(read: Callable[[WorkerStats], float]) -> Callable[[WorkerStats], Labelled]:
    return lambda stats: iter([(read(stats), {})])


def _each(name: str) -> Callable[[WorkerStats], Labelled]:
    return lambda stats: ((getattr(sink, name), {"sink": sink.name}) for sink in stats.sinks)


def _states(stats: WorkerStats) -> Labelled:
    for state in STATES:
        yield getattr(stats.counts, state), {"state": state}


def _lost(stats: WorkerStats) -> Labelled:
    counts: Counts = stats.counts
    for state, reasons in (("dropped", counts.dropped_reasons), ("rejected", counts.rejected_reasons)):
        for reason, records in reasons.items():
            yield records, {"state": state, "reason": reason}


def _bytes(stats: WorkerStats) -> Labelled:
    yield stats.encoded_bytes, {"stage": "encoded"}
    yield stats.sealed_bytes, {"stage": "sealed"}
    yield stats.sent_bytes, {"stage": "sent"}
