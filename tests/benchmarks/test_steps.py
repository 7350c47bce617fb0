import gc
import time

from pydantic import BaseModel, field_serializer

from benchmarks.steps import longest_step_ms
from encoder.synthetic import synthetic_episode


class Item(BaseModel):
    busy_s: float

    @field_serializer("busy_s")
    def _be_busy(self, busy_s: float) -> float:
        end = time.thread_time() + busy_s
        while time.thread_time() < end:
            pass
        return busy_s


class Items(BaseModel):
    items: list[Item]


def test_the_longest_step_holds_the_longest_serializer() -> None:
    assert longest_step_ms(Items(items=[Item(busy_s=0.0), Item(busy_s=0.02)])) >= 20


def test_takes_an_episode_and_leaves_the_collector_as_it_was() -> None:
    assert longest_step_ms(synthetic_episode(1, num_nodes=3, tokens_per_node=20)) > 0
    assert gc.isenabled()
