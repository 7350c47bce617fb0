"""One warning for each kind of loss and time, however many records it concerns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

PERIOD_S: Final = 60.0
"""How long after a warning the next of its kind comes."""


_PLURALS: Final = {"record": "records", "batch": "batches", "problem": "problems"}


@dataclass(slots=True)
class _Kind:
    said_at_s: float
    noun: str
    text: str = ""
    unsaid: int = 0


class Complaints:
    """Decides what to say now, and sums up the rest.

    Args:
        period_s: how long after a warning the next of its kind comes.
    """

    def __init__(self, period_s: float = PERIOD_S) -> None:
        self._period_s = period_s
        self._kinds: dict[str, _Kind] = {}

    def note(self, kind: str, count: int, text: str, now_s: float, noun: str = "record") -> str | None:
        """Something happened to so many records, batches, or at all: what to say at once, if anything."""
        known = self._kinds.get(kind)
        if known is None:
            self._kinds[kind] = _Kind(now_s, noun)
            return f"{_counted(count, noun)} {text}"
        known.unsaid += count
        known.text = text
        return None

    def due(self, now_s: float, *, all_of_them: bool = False) -> Iterator[str]:
        """What to say by now about what was not said at once."""
        for kind, known in list(self._kinds.items()):
            is_due = now_s - known.said_at_s >= self._period_s
            if known.unsaid and (all_of_them or is_due):
                yield f"{_counted(known.unsaid, known.noun, ' more')} {known.text}"
                self._kinds[kind] = _Kind(now_s, known.noun)
            elif is_due:
                del self._kinds[kind]


def _counted(count: int, noun: str, more: str = "") -> str:
    return f"{count}{more} {noun if count == 1 else _PLURALS[noun]}"
