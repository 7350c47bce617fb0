"""A worker's figures as OpenTelemetry metrics (extra `otel`).

    observe(lambda: worker.stats, {"run": run_id})

All that `WorkerStats` says is here; what it says of all sinks together is the sum over them. The states of
`unstall.records` are those of `Counts`, and those of `unstall.sink.records` those of `SinkStats`. All that one callback
gives is read of one frozen object: it adds up.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

from uploader.delivery.stats import SinkStats
from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerStats

STATES: Final = ("queued", "encoding", "spooled", "in_flight", "stored", "dropped", "rejected")
EARLIER_STATES: Final = ("spooled", "in_flight", "stored", "rejected")
SINK_STATES: Final = ("waiting", "in_flight", "stored", "rejected", "dropped")
_STAGES: Final = ("encoded", "sealed", "sent")

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
    gauge("records.earlier", "{record}", "Records that earlier runs left, by state", _earlier_states)
    counter("records.submitted", "{record}", "Records that were submitted", _one(lambda its: its.submitted))
    counter("records.lost", "{record}", "Records that were dropped or set aside, by reason", _lost)
    counter("bytes", "By", "Bytes by what was done with them", _stages("bytes"))
    gauge("bytes.rate", "By/s", "The same, over the last ten seconds", _stages("bytes_per_s"))
    gauge("queue.bytes", "By", "Bytes of JSON that are queued, estimated", _one(lambda its: its.queued_bytes))
    gauge("queue.age", "s", "Age of the oldest queued record", _one(lambda its: its.oldest_queued_age_s))
    gauge("spool.bytes", "By", "Sealed batches that wait", _one(lambda its: its.kept_bytes))
    counter("thread.restarts", "{restart}", "Escapes of the worker's threads", _one(lambda its: its.restarts))
    counter("events.untold", "{event}", "Events that a slow hook missed", _one(lambda its: its.untold_events))

    gauge("sink.records", "{record}", "Records of this run by the state that they are in", _sink_states)
    gauge("sink.batches", "{batch}", "Batches that wait or are in flight", _sink_batches)
    for name, unit, description, read in _SINK_COUNTERS:
        counter(f"sink.{name}", unit, description, _each(read))
    gauge("sink.concurrency", "{request}", "Requests that may be in flight", _each(lambda its: its.concurrency))
    gauge("sink.paused", "{sink}", "1 while a sink is paused", _each(lambda its: int(its.paused_until is not None)))
    gauge(
        "sink.stopped",
        "{sink}",
        "1 once a sink takes nothing any more",
        _each(lambda its: int(bool(its.stopped_reason))),
    )


_SINK_COUNTERS: Final[tuple[tuple[str, str, str, Callable[[SinkStats], int]], ...]] = (
    ("batches.stored", "{batch}", "Batches of this run that a sink has", lambda its: its.stored_batches),
    ("batches.resumed", "{batch}", "Batches of earlier runs that it has got", lambda its: its.resumed_batches),
    ("records.resumed", "{record}", "The records in those", lambda its: its.resumed_records),
    ("bytes", "By", "Compressed bytes of all that it has", lambda its: its.sent_bytes),
    ("retries", "{request}", "Requests that were repeated, or will be", lambda its: its.retries),
    ("refusals", "{request}", "Requests that were refused before any work", lambda its: its.refusals),
)


def _one(read: Callable[[WorkerStats], float]) -> Callable[[WorkerStats], Labelled]:
    return lambda stats: iter([(read(stats), {})])


def _each(read: Callable[[SinkStats], float]) -> Callable[[WorkerStats], Labelled]:
    return lambda stats: ((read(sink), {"sink": sink.name}) for sink in stats.sinks)


def _states(stats: WorkerStats) -> Labelled:
    return ((getattr(stats.counts, state), {"state": state}) for state in STATES)


def _earlier_states(stats: WorkerStats) -> Labelled:
    return ((getattr(stats.counts.earlier, state), {"state": state}) for state in EARLIER_STATES)


def _lost(stats: WorkerStats) -> Labelled:
    counts: Counts = stats.counts
    for state, reasons in (("dropped", counts.dropped_reasons), ("rejected", counts.rejected_reasons)):
        for reason, records in reasons.items():
            yield records, {"state": state, "reason": reason}


def _stages(of: str) -> Callable[[WorkerStats], Labelled]:
    return lambda stats: ((getattr(stats, f"{stage}_{of}"), {"stage": stage}) for stage in _STAGES)


def _sink_states(stats: WorkerStats) -> Labelled:
    for sink in stats.sinks:
        for state in SINK_STATES:
            yield getattr(sink, f"{state}_records"), {"sink": sink.name, "state": state}


def _sink_batches(stats: WorkerStats) -> Labelled:
    for sink in stats.sinks:
        yield sink.waiting_batches, {"sink": sink.name, "state": "waiting"}
        yield sink.in_flight_batches, {"sink": sink.name, "state": "in_flight"}
