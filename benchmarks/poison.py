"""Episodes of which one is rejected, sent to a real receiver."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.sides import KEY, Outcome, new_side
from encoder.synthetic import synthetic_episode
from uploader import TracesClient

EPISODES: Final = 500
POISON: Final = 321
TIMEOUT_S: Final = 120.0

_EPISODE_BYTES: Final = 20_000
_TOO_LONG_ID: Final = "x" * 300


@dataclass(frozen=True, slots=True)
class Poisoned:
    """What became of the records.

    Attributes:
        outcome: what the uploader says.
        stored: how many the service really has.
    """

    outcome: Outcome
    stored: int


def poisoned(side: str, url: str, spool: Path) -> Poisoned:
    """Log them one by one, one of them with an id that the service does not take."""
    records = [synthetic_episode(seed, target_bytes=_EPISODE_BYTES) for seed in range(EPISODES)]
    records[POISON] = records[POISON].model_copy(update={"id": _TOO_LONG_ID})
    worker = new_side(side, None, spool, url=url)
    for record in records:
        assert worker.submit([record])
    worker.flush(TIMEOUT_S)
    outcome = worker.close(TIMEOUT_S)
    with TracesClient(KEY, url, "") as client:
        return Poisoned(outcome, sum(1 for _ in client.iter_episodes()))
