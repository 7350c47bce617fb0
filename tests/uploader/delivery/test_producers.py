"""Twelve producers at one service that admits sixteen requests, in simulated time."""

import heapq
import random
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from uploader.delivery.queue import SinkQueue

PRODUCERS = 12
SLOTS = 16
SIZE = 7_000_000
WAY_S = 0.002
"""How long a request takes to the service."""


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
    """Every producer has as many batches, all at once; a request takes `service_s`, give or take a tenth."""

    def __init__(self, batches: int, service_s: float, retry_after_s: float | None, seed: int) -> None:
        self.random = random.Random(seed)
        self.service_s, self.retry_after_s = service_s, retry_after_s
        self.queues: list[SinkQueue[Item]] = [SinkQueue(8, self.random.random) for _ in range(PRODUCERS)]
        self.events: list[Event] = []
        self.in_flight = self.refusals = self.stored = 0
        self.most_in_flight = 0
        self.finished_at = [0.0] * PRODUCERS
        self.longest_wait_s = 0.0
        for producer, queue in enumerate(self.queues):
            for number in range(batches):
                queue.put(Item((number,)))
            self.push(self.random.random() * 0.1, "wake", producer)

    def push(self, at: float, kind: str, producer: int, item: Item | None = None, started_at: float = 0.0) -> None:
        self.number = getattr(self, "number", 0) + 1
        heapq.heappush(self.events, Event(at, self.number, kind, producer, item, started_at))

    def run(self) -> float:
        """The time when the last producer has finished."""
        now = 0.0
        while self.events:
            event = heapq.heappop(self.events)
            now = event.at
            if event.kind == "arrival":
                self.arrive(event)
                continue
            queue = self.queues[event.producer]
            if event.kind == "answer":
                self.answer(event)
            while (item := queue.start(now, lambda _: SIZE)) is not None:
                self.push(now + WAY_S, "arrival", event.producer, item, now)
            wake_at = queue.wake_at(now)
            if wake_at is not None:
                self.push(max(wake_at, now + 1e-6), "wake", event.producer)
        return now

    def arrive(self, event: Event) -> None:
        assert event.item is not None
        if self.in_flight == SLOTS:
            self.refusals += 1
            self.queues[event.producer].refused(event.item, event.at, self.retry_after_s)
            self.push(event.at, "wake", event.producer)
            return
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        service_s = self.service_s * (0.9 + 0.2 * self.random.random())
        self.push(event.at + service_s, "answer", event.producer, event.item, event.started_at)

    def answer(self, event: Event) -> None:
        assert event.item is not None
        self.in_flight -= 1
        self.stored += 1
        self.longest_wait_s = max(self.longest_wait_s, event.at - self.finished_at[event.producer])
        self.finished_at[event.producer] = event.at
        self.queues[event.producer].stored(event.item, event.at, SIZE, event.at - event.started_at)


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
    assert simulation.stored / took_s >= 0.85 * SLOTS / (service_s + WAY_S)
    assert simulation.longest_wait_s < 20 + 20 * service_s
    assert min(simulation.finished_at) > 0.5 * took_s
