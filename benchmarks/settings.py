"""What the benchmarks run on: sizes, shapes, and how often."""

from dataclasses import dataclass
from typing import Final

SIZES_MB: Final = (2.2, 8.4, 35.0)
LARGE_SIZES_MB: Final = (133.0, 1000.0)
TOKENS_PER_NODE: Final = (40, 900, 8000)

MEMORY_SIZES_MB: Final = (8.4, 35.0, 133.0)
LARGE_MEMORY_SIZES_MB: Final = (1000.0,)

LOGGED_EPISODES: Final = (40, 1000)
CLOSE_TIMEOUTS_S: Final = (5.0, 30.0)
THROUGHPUT_EPISODES: Final = (8, 40)
KILLS: Final = (10, 100)
CONTENDED_S: Final = (25.0, 60.0)
"""Of whole runs: by default, and the whole size."""

_ROUNDS: Final = {2.2: 15, 8.4: 9, 35.0: 3}
_ROUNDS_OF_LARGE: Final = 3
_RUNS: Final = 5
_RUNS_OF_LARGE: Final = 10
_RUNS_OF_SLOW_WAYS: Final = 3
_RUNS_OF_SHAPES: Final = 3


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is measured.

    Attributes:
        large: also the sizes and shapes that take minutes.
        asked_runs: probed runs of each benchmark of stalls, where somebody asked for a number.
    """

    large: bool
    asked_runs: int | None = None

    @property
    def runs(self) -> int:
        """Probed runs of each benchmark of stalls."""
        return self.asked_runs or (_RUNS_OF_LARGE if self.large else _RUNS)

    @property
    def sizes_mb(self) -> tuple[float, ...]:
        """The sizes of the episodes, as megabytes of JSON."""
        return SIZES_MB + LARGE_SIZES_MB if self.large else SIZES_MB

    @property
    def memory_sizes_mb(self) -> tuple[float, ...]:
        """The same where memory is measured."""
        return MEMORY_SIZES_MB + LARGE_MEMORY_SIZES_MB if self.large else MEMORY_SIZES_MB

    def rounds(self, size_mb: float) -> int:
        """How often CPU time is taken at a size."""
        return _ROUNDS.get(size_mb, _ROUNDS_OF_LARGE)

    def runs_of(self, way: str) -> int:
        """How many probed runs a way of encoding gets: the slow ones stall by so much that a few tell."""
        return min(self.runs, _RUNS_OF_SLOW_WAYS) if way in ("plain", "node at a time") else self.runs

    def runs_of_shapes(self, way: str) -> int:
        """The same for the adversarial shapes, which take long."""
        if way == "plain":
            return 1
        return self.runs if self.large or self.asked_runs else _RUNS_OF_SHAPES

    @property
    def logged_episodes(self) -> int:
        """How many episodes a whole run logs."""
        return LOGGED_EPISODES[self.large]

    @property
    def close_timeout_s(self) -> float:
        """How long it may take to close such a run: 30 s are what both uploaders have by default."""
        return CLOSE_TIMEOUTS_S[self.large]

    @property
    def throughput_episodes(self) -> int:
        """How many episodes the slow ways upload each round."""
        return THROUGHPUT_EPISODES[self.large]

    @property
    def kills(self) -> int:
        """How many processes are killed."""
        return KILLS[self.large]

    @property
    def contended_s(self) -> float:
        """How long many producers send to one receiver."""
        return CONTENDED_S[self.large]
