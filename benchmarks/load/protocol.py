"""What the loop knows of what it logs to."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


class Depth(NamedTuple):
    """How far what was logged has come, at one moment; of several monitors the slowest counts.

    Attributes:
        queued: episodes that nobody has taken up yet.
        taken: episodes that are encoded.
        done: episodes that are delivered.
    """

    queued: int = 0
    taken: int = 0
    done: int = 0


@dataclass(frozen=True)
class Outcome:
    """What is said to have become of everything.

    Attributes:
        requests: how many were made; None if there are none to be made.
        retries: how many of them were repeated after a failure.
        refusals: how many were refused, and repeated.
        stored: how many episodes the uploader says are stored; None where nothing is uploaded.
        lost: how many were given up or set aside.
        failures: of monitors, in words.
    """

    requests: int | None = None
    retries: int = 0
    refusals: int = 0
    stored: int | None = None
    lost: int = 0
    failures: list[str] = field(default_factory=list)


class Target(Protocol):
    """What is logged to."""

    async def log(self, data: Any, step: int) -> None: ...
    async def finalize(self) -> None: ...
    def depth(self) -> Depth: ...
    def outcome(self) -> Outcome: ...
