"""Episodes of the sizes that training runs make: lognormal, 6.4 MB in the middle and 8.5 on average, up to 60."""

import math
import random
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Final

from encoder import Episode
from encoder.synthetic import synthetic_episode

MEDIAN_BYTES: Final = 6_400_000
MEAN_BYTES: Final = 8_500_000
MOST_BYTES: Final = 60_000_000
NUM_SHARED: Final = 24
"""Episodes differ in their ids; their traces are some of so many, at log-spaced sizes: thousands fit into memory."""

_LEAST_BYTES: Final = 1_000_000
_SIGMA: Final = math.sqrt(2 * math.log(MEAN_BYTES / MEDIAN_BYTES))


def shared_sizes() -> list[int]:
    """The sizes there are."""
    ratio = MOST_BYTES / _LEAST_BYTES
    return [round(_LEAST_BYTES * ratio ** (number / (NUM_SHARED - 1))) for number in range(NUM_SHARED)]


def production_sizes(count: int, seed: int = 0) -> list[int]:
    """So many sizes in random order; their distribution is the same for any number, as each has its own quantile."""
    normal = NormalDist(math.log(MEDIAN_BYTES), _SIGMA)
    wanted = [math.exp(normal.inv_cdf((number + 0.5) / count)) for number in range(count)]
    sizes = shared_sizes()
    found = [min(sizes, key=lambda size: abs(math.log(size / bytes_))) for bytes_ in wanted]
    random.Random(seed).shuffle(found)
    return found


def shared_episodes() -> dict[int, Episode]:
    """An episode of each size there is."""
    return {size: synthetic_episode(seed, target_bytes=size) for seed, size in enumerate(shared_sizes())}


def episodes(sizes: Sequence[int], shared: dict[int, Episode]) -> Iterator[Episode]:
    """Episodes of these sizes, made one by one."""
    for number, size in enumerate(sizes):
        yield shared[size].model_copy(update={"id": f"episode-{number}"})
