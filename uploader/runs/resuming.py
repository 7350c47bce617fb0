"""The command that sends what a run left: it names every address that something waits for and no setting tells.

A service gets nothing but what was logged for its address and team, so a command that names another one, or none, would
find nothing to send. What waits for stores and folders is sent by any.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uploader.config import Config
from uploader.runs.platform import PLATFORM_VARIABLE
from uploader.sinks.base import Sink
from uploader.sinks.choosing import SERVICE, is_service

_COMMAND: Final = ("uploader", "spool", "resume")


@dataclass(frozen=True)
class Address:
    """A service or a platform that something may wait for.

    Attributes:
        place: its address.
        team: the team; empty for none.
        options: what a command has to say to mean it, since no setting says so.
        is_everywhere: whether the environment names it beside the service, so that any command of this team reaches it.
    """

    place: str
    team: str
    options: Mapping[str, str]
    is_everywhere: bool = False

    def is_reached_by(self, other: "Address") -> bool:
        """Whether a command that means another one reaches this one, too."""
        return self.team == other.team and (self.is_everywhere or self.place == other.place)


@dataclass(frozen=True)
class Addresses:
    """Where a run's records and its metrics go.

    Attributes:
        services: the traces services, each once; none where there are only stores.
        platform: what knows the run; None for this machine alone.
    """

    services: Sequence[Address] = ()
    platform: Address | None = None


def addresses_of(
    choices: Sequence[Any] | None,
    sinks: Sequence[Sink],
    platform: Config | None,
    settings: Config,
    base_url: str | None,
    team_id: str | None,
) -> Addresses:
    """The addresses of one run.

    Args:
        choices: what was said of each sink; None for the service alone.
        sinks: the sinks that were made of it.
        platform: what the platform is talked to as; None for no platform.
        settings: the configured service and team.
        base_url: the argument, None where the environment or the configuration file was asked.
        team_id: likewise the team.
    """
    said = [SERVICE] * len(sinks) if choices is None else choices
    services: dict[tuple[str, str], Address] = {}
    for choice, sink in zip(said, sinks, strict=False) if sinks else ():
        place, team = sink.destination.place, sink.destination.team
        if is_service(sink.destination):
            is_url_told = base_url is not None or choice != SERVICE
            options = _options(place if is_url_told else None, _unless_set(team, settings.team_id, team_id))
            services.setdefault((place, team), Address(place, team, options))
    if platform is None:
        return Addresses(tuple(services.values()))
    is_everywhere = base_url is None and bool(os.environ.get(PLATFORM_VARIABLE))
    url = None if is_everywhere else _unless_set(platform.base_url, settings.base_url, base_url)
    options = _options(url, _unless_set(platform.team_id, settings.team_id, team_id))
    return Addresses(
        tuple(services.values()), Address(platform.base_url, platform.team_id, options, is_everywhere=is_everywhere)
    )


def resume_command(spool: Path, addresses: Addresses, *, records_wait: bool, metrics_wait: bool) -> str | None:
    """What sends all that a run left, for a shell; None where nothing waits.

    It is several commands where several services are to get something: `;` stands between them, as one that is down
    holds back no other. The platform comes last: it is told of a run's end once no record of it waits any more.

    Args:
        spool: the spool.
        addresses: of the run.
        records_wait: whether records wait, for whichever sinks.
        metrics_wait: whether the platform is still to be told something.
    """
    if not (records_wait or metrics_wait):
        return None
    meant = list(addresses.services) if records_wait else []
    platform = addresses.platform if metrics_wait else None
    if platform is not None and not any(map(platform.is_reached_by, meant)):
        meant.append(platform)
    options = [each.options for each in meant] or [{}]
    return "; ".join(
        shlex.join([*_COMMAND, "--spool", str(spool), *(part for option in each.items() for part in option)])
        for each in options
    )


def _unless_set(value: str, configured: str, argument: str | None) -> str | None:
    """What a command has to say: nothing where the settings will say it again."""
    return None if argument is None and value == configured else value


def _options(url: str | None, team: str | None) -> Mapping[str, str]:
    told = {"--url": url, "--team-id": team}
    return {name: value for name, value in told.items() if value is not None}
