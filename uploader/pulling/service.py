"""The records of a run, from a traces service."""

from dataclasses import dataclass
from typing import Any

from uploader.client import TracesClient
from uploader.models import LineFormat


@dataclass(frozen=True)
class ServiceRecords:
    """What a service has of a run, those made first in front.

    Attributes:
        episodes: the ids of its episodes.
        traces: the ids of its traces that belong to no episode.
    """

    episodes: list[str]
    traces: list[str]

    def ids(self, line_format: LineFormat) -> list[str]:
        """The ids of one kind."""
        return self.episodes if line_format is LineFormat.EPISODE else self.traces


def find_records(client: TracesClient, run_id: str, line_format: LineFormat | None) -> ServiceRecords:
    """What there is of a run; of each kind that may be asked for.

    Raises:
        APIError: the service does not say.
    """
    episodes = [] if line_format is LineFormat.TRACE else client.iter_episodes(run_id=run_id, limit=100)
    traces = [] if line_format is LineFormat.EPISODE else client.iter(run_id=run_id, limit=100)
    found = ServiceRecords(
        [each.episode_id for each in episodes], [each.trace_id for each in traces if each.episode_id is None]
    )
    found.episodes.reverse()
    found.traces.reverse()
    return found


def read_record(client: TracesClient, line_format: LineFormat, record_id: str) -> bytes:
    """One record's line as it is stored, without its LF.

    Raises:
        APIError: the service does not give it.
    """
    read: Any = client.get_episode_raw if line_format is LineFormat.EPISODE else client.get_raw
    content: bytes = read(record_id)
    return content
