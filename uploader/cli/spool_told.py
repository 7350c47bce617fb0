"""What `uploader spool resume` tells the platform of runs that have ended, and what it says of that."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from uploader.cli.output import counted, report_error, results, shown
from uploader.clock import get_clock
from uploader.config import Config
from uploader.runs.courier import Courier
from uploader.runs.platform import Platform, configured_platform
from uploader.runs.telling import Told, tell, untold
from uploader.runs.untold import Note


class Platforms:
    """The platforms that may be told: the service's own address, and the one that the environment names.

    Args:
        config: whom to talk to, and as whom.

    Raises:
        ConfigurationError: the environment's address cannot be used.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._urls = {config.base_url, configured_platform()}

    def courier(self, note: Note) -> Courier | None:
        """What tells a note's platform; None for that of somebody else."""
        if note.url not in self._urls or note.team != self._config.team_id:
            return None
        return Courier(Platform(replace(self._config, base_url=note.url), get_clock().jitter))

    def is_anything_for(self, root: Path) -> bool:
        """Whether there is anything to tell them."""
        return any(self.courier(note) is not None for note in untold(root))

    def tell(self, root: Path, found: list[Told]) -> None:
        """Tell them, and add each run's result."""
        tell(root, self.courier, found.append)


def print_told(found: Sequence[Told], *, as_json: bool) -> None:
    """Say what was told, unless it was said as JSON, and what was not and why."""
    for told in found:
        said = [counted(told.metrics, "row of metrics", "rows of metrics")] if told.metrics else []
        said += ["its end"] if told.has_end else []
        if said and not as_json:
            results().print(f"{shown(told.run_id)}: told {shown(told.url)} {' and '.join(said)}", highlight=False)
        if told.refused:
            rows = counted(told.refused, "row of metrics was", "rows of metrics were")
            report_error(f"{shown(told.run_id)}: {rows} refused, and kept in metrics.jsonl: {told.refusal}")
        if told.left:
            why = told.error or "records of it wait still, or it is known elsewhere: --url, PRIME_API_BASE_URL"
            report_error(f"{shown(told.run_id)}: the platform was not told of all: {why}")


def told_json(told: Told) -> dict[str, Any]:
    """A run's result as JSON."""
    return {
        "run_id": told.run_id,
        "folder": shown(told.path),
        "platform": told.url or None,
        "told": {"metrics": told.metrics, "end": told.has_end},
        "refused_metrics": told.refused,
        "left": {"requests": told.left},
        "error": None if told.error is None else str(told.error),
    }
