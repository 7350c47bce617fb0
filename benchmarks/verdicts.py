"""What is said about a bound."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bound, the value that comes closest to it or goes farthest beyond, and where that was.

    Attributes:
        what: the quantity.
        limit: with its unit.
        value: the worst of those measured, with its unit.
        where: for which benchmark.
        excess: how many times the limit it is.
    """

    what: str
    limit: str
    value: str
    where: str
    excess: float

    @property
    def is_met(self) -> bool:
        """Whether it was kept everywhere."""
        return self.excess <= 1.0
