"""Twelve producers at one service that admits sixteen requests, in simulated time."""

import heapq
import math
import random
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from uploader.delivery.queue import SinkQueue

PRODUCERS = 12
SLOTS = 16
SIZE = 7_000_000
WAY_S = (0.005, 0.02)
"""How long a request takes to the service, at least and at most; an answer takes up to the shorter."""
AROUND_S = sum(WAY_S) / 2 + WAY_S[0] / 2
"""For so long a slot is free between two requests, when there is always a next one."""


@dataclass(frozen=True)
class Item:
    key: tuple[int, ...]


class Event(NamedTuple):
    at: float
    number: int
    kind: str
    producer: int
    item: Item | None = None
    started_at: float = 0.0


class Simulation:
    """Every producer has as many batches of `size`, all at once; each takes `service_s`, give or take a tenth."""

    def __init__(
        self, batches: int, service_s: float, retry_after_s: float | None, seed: int, *, size: int = SIZE
    ) -> None:
        self.random = random.Random(seed)
        self.service_s, self.retry_after_s, self.size = service_s, retry_after_s, size
        self.number = 0
        self.queues: list[SinkQueue[Item]] = [SinkQueue(8, self.random.random) for _ in range(PRODUCERS)]
        self.events: list[Event] = []
        self.in_flight = self.refusals = self.stored = 0
        self.most_in_flight = 0
        self.finished_at = [0.0] * PRODUCERS
        self.stored_by = [0] * PRODUCERS
        self.longest_wait_s = 0.0
        for producer, queue in enumerate(self.queues):
            for number in range(batches):
                queue.put(Item((number,)))
            self.push(self.random.random() * 0.1, "wake", producer)

    def push(self, at: float, kind: str, producer: int, item: Item | None = None, started_at: float = 0.0) -> None:
        self.number += 1
        heapq.heappush(self.events, Event(at, self.number, kind, producer, item, started_at))

    def run(self, until: float = math.inf) -> float:
        """The time when the last producer has finished, or that until which they are followed."""
        now = 0.0
        while self.events and self.events[0].at <= until:
            event = heapq.heappop(self.events)
            now = event.at
            if event.kind == "arrival":
                self.arrive(event)
            elif event.kind == "end":
                self.in_flight -= 1
                self.push(now + WAY_S[0] * self.random.random(), "answer", *event[3:])
            else:
                self.go_on(event)
        return now

    def go_on(self, event: Event) -> None:
        """A producer hears of something, or of the time, and does what its queue says."""
        queue, now = self.queues[event.producer], event.at
        if event.kind == "answer":
            self.answer(event)
        elif event.kind == "refusal":
            assert event.item is not None
            queue.refused(event.item, now, self.retry_after_s)
        while (item := queue.start(now, lambda _: self.size)) is not None:
            self.push(now + self.random.uniform(*WAY_S), "arrival", event.producer, item, now)
        wake_at = queue.wake_at(now)
        if wake_at is not None:
            self.push(max(wake_at, now + 1e-4), "wake", event.producer)

    def arrive(self, event: Event) -> None:
        if self.in_flight == SLOTS:
            self.refusals += 1
            self.push(event.at + WAY_S[0] * self.random.random(), "refusal", event.producer, event.item)
            return
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        service_s = self.service_s * (0.9 + 0.2 * self.random.random())
        self.push(event.at + service_s, "end", event.producer, event.item, event.started_at)

    def answer(self, event: Event) -> None:
        assert event.item is not None
        self.stored += 1
        self.stored_by[event.producer] += 1
        self.longest_wait_s = max(self.longest_wait_s, event.at - self.finished_at[event.producer])
        self.finished_at[event.producer] = event.at
        self.queues[event.producer].stored(event.item, event.at, self.size, event.at - event.started_at)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("retry_after_s", [1.0, None], ids=["retry-after", "plain"])
@pytest.mark.parametrize("service_s", [0.17, 0.3, 1.0, 3.0])
def test_all_finish_none_starves_and_the_service_is_used(
    service_s: float, retry_after_s: float | None, seed: int
) -> None:
    batches = int(200 * SLOTS / service_s / PRODUCERS)
    simulation = Simulation(batches, service_s, retry_after_s, seed)
    took_s = simulation.run()
    assert simulation.stored == batches * PRODUCERS
    assert simulation.refusals > 0
    assert simulation.most_in_flight == SLOTS
    assert simulation.stored / took_s >= 0.85 * SLOTS / (service_s + AROUND_S)
    assert simulation.longest_wait_s < 20 + 20 * service_s
    assert min(simulation.finished_at) > 0.5 * took_s


@pytest.mark.parametrize("size", [1000, SIZE], ids=["small", "large"])
@pytest.mark.parametrize("retry_after_s", [1.0, None], ids=["retry-after", "plain"])
@pytest.mark.parametrize("service_s", [0.1, 0.17, 0.4, 1.0, 3.0])
def test_the_service_is_used_from_the_start_and_soon_fairly(
    service_s: float, retry_after_s: float | None, size: int
) -> None:
    """The first requests all come at once, and nobody knows yet of the others."""
    first_s, fair_s = 25.0, max(100.0, 60 * service_s)
    batches = int(fair_s * SLOTS / service_s / 4)
    simulation = Simulation(batches, service_s, retry_after_s, 1, size=size)
    simulation.run(first_s)
    assert simulation.stored / first_s >= 0.85 * SLOTS / (service_s + AROUND_S)
    simulation.run(fair_s)
    assert max(simulation.stored_by) < batches, "one has nothing more to send"
    assert min(simulation.stored_by) >= 0.5 * simulation.stored / PRODUCERS


def test_one_producer_alone_soon_has_as_many_under_way_as_it_may() -> None:
    simulation = Simulation(8, 1.0, None, 1)
    simulation.queues[1:] = []
    simulation.events = [event for event in simulation.events if event.producer == 0]
    assert simulation.run() < 5.0
