"""How production-sized episodes are logged."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Scenario:
    """How episodes come, and what the service does.

    Attributes:
        bytes_per_s: how fast they come, as JSON; None for all at once.
        stalls: whether the service takes every request and never answers.
    """

    bytes_per_s: float | None = None
    stalls: bool = False


SCENARIOS: Final = {
    "200 MB/s": Scenario(200e6),
    "one burst": Scenario(),
    "200 MB/s, stalled service": Scenario(200e6, stalls=True),
}
