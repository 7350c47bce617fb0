"""What the platform is still to be told of a run, on disk: one JSON object a line, in `<spool>/<run>/platform.jsonl`.

Only the process that opened a run knows its metrics and its end. What it could not tell in time waits here, in order,
for `uploader spool resume`: CONTRACT says that metrics and the end may be told again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from uploader.runs.endings import Ending, Status


@dataclass(frozen=True)
class Note:
    """One thing that the platform is to be told: a row of metrics, or how the run ended.

    Attributes:
        url: the platform's address; it is told to nobody else.
        team: as whom.
        kind: whether the run trains or evaluates.
        run_id: the run.
        metrics: the row.
        ending: the end.
    """

    url: str
    team: str
    kind: str
    run_id: str
    metrics: Mapping[str, Any] | None = None
    ending: Ending | None = None

    def encode(self) -> dict[str, Any]:
        """It as JSON."""
        note: dict[str, Any] = {"url": self.url, "team": self.team, "kind": self.kind, "run_id": self.run_id}
        if self.ending is None:
            return {**note, "metrics": self.metrics}
        ending = self.ending
        return {**note, "ending": {"status": ending.status, "summary": ending.summary, "error": ending.error}}

    @classmethod
    def decode(cls, note: Any) -> Self:
        """The note that JSON stands for.

        Raises:
            ValueError: it stands for none.
        """
        try:
            url, team, kind, run_id = (note[name] for name in ("url", "team", "kind", "run_id"))
            metrics, ending = note.get("metrics"), note.get("ending")
            if not all(isinstance(each, str) for each in (url, team, kind, run_id)):
                raise ValueError("it is no note")
            if isinstance(metrics, dict):
                return cls(url, team, kind, run_id, metrics)
            end = Ending(Status(ending["status"]), ending["summary"], ending["error"])
            return cls(url, team, kind, run_id, ending=end)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is no note: {error!r}") from None
