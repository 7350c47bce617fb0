"""Episodes of finished rollouts: thousands that differ in their ids, made of 24 that fit into memory."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from benchmarks.load.cases import SMALL_FROM
from benchmarks.production import NUM_SHARED, production_sizes, shared_sizes
from encoder import Episode
from encoder.synthetic import synthetic_episode

SMALL_BYTES: Final = 2_200_000
STEP_EPISODES: Final = 64
"""So many make a training step."""


class Rollouts:
    """Episodes by number.

    Args:
        kinds: the episodes whose traces they share.
        order: which of these each is; after the last one it begins anew.

    Attributes:
        order: as given.
        line_bytes: how long the JSON of each kind is.
    """

    def __init__(self, kinds: Sequence[Episode], order: Sequence[int]) -> None:
        self.order = list(order)
        self.line_bytes = [len(kind.to_json()) for kind in kinds]
        self._kinds = list(kinds)
        self._sums = [0, *accumulate(self.line_bytes[kind] for kind in self.order)]

    def __len__(self) -> int:
        return len(self.order)

    def episode(self, number: int) -> Episode:
        """The episode of this number: its own id, and its traces'; all else is shared. It takes microseconds."""
        kind = self._kinds[self.order[number % len(self.order)]]
        traces = [
            trace.model_copy(update={"id": f"trace-{number}-{position}"}) for position, trace in enumerate(kind.traces)
        ]
        return kind.model_copy(update={"id": episode_id(number), "traces": traces})

    def size(self, number: int) -> int:
        """How long its JSON is, without what the uploader adds."""
        return self.line_bytes[self.order[number % len(self.order)]]

    def bytes_before(self, number: int) -> int:
        """How long the JSON of all episodes before this one is."""
        rounds, rest = divmod(number, len(self.order))
        return rounds * self._sums[-1] + self._sums[rest]


def episode_id(number: int) -> str:
    """The id of an episode."""
    return f"episode-{number}"


def new_rollouts(count: int, scale: float = 1.0) -> Rollouts:
    """So many rollouts, of production sizes in random order, or if there are very many, of 2.2 MB.

    Args:
        count: how many.
        scale: so many times as large.
    """
    if count >= SMALL_FROM:
        small = round(SMALL_BYTES * scale)
        kinds = [synthetic_episode(seed, target_bytes=small) for seed in range(NUM_SHARED)]
        return Rollouts(kinds, [number % NUM_SHARED for number in range(count)])
    sizes = production_sizes(count)
    used = [size for size in shared_sizes() if size in set(sizes)]  # a few episodes need not wait for all
    kinds = [synthetic_episode(seed, target_bytes=round(size * scale)) for seed, size in enumerate(used)]
    return Rollouts(kinds, [used.index(size) for size in sizes])
