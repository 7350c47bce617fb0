"""From what users say of a sink to the sink: an address, or a sink of their own; and from what a spool says of it."""

import os
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import httpx

from uploader.config import Config, load_config
from uploader.errors import ConfigurationError
from uploader.sinks.base import Sink
from uploader.sinks.files import FileSink
from uploader.sinks.obstores import whole_place
from uploader.sinks.places import PlaceKind, parse_place
from uploader.sinks.store import ObjectStoreSink
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination

SinkChoice: TypeAlias = Sink | str | os.PathLike[str]
"""A sink; `traces` for the configured service; the address of another one or of a store; or a folder."""

SERVICE: Final = "traces"


def choose_sinks(
    choices: Sequence[SinkChoice] | None, config: Config, transport: httpx.AsyncBaseTransport | None = None
) -> list[Sink]:
    """The sinks that were chosen.

    Args:
        choices: see `SinkChoice`; None for the service alone.
        config: the configured service.
        transport: for the sinks of a service, an httpx transport to use instead of the network.

    Raises:
        ConfigurationError: one is no sink and no address, or two have the same name.
    """
    if choices is None:
        return [TracesSink(config, transport=transport)]
    if isinstance(choices, str | os.PathLike) or not isinstance(choices, Sequence):
        raise ConfigurationError("sinks", f"it must be a list, even of one, not {type(choices).__name__}")
    sinks = [_sink(choice, config, transport) for choice in choices]
    if not sinks:
        raise ConfigurationError("sinks", "there is none: batches would go nowhere")
    names = [sink.name for sink in sinks]
    if doubles := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError("sinks", f"two have the name {doubles[0]!r}: give one of them another")
    return sinks


def _sink(choice: Any, config: Config, transport: httpx.AsyncBaseTransport | None) -> Sink:
    if choice == SERVICE:
        return TracesSink(config, transport=transport)
    if isinstance(choice, str | os.PathLike):
        place = parse_place("sinks", choice)
        if place.kind is PlaceKind.FOLDER:
            return FileSink(place.folder)
        if place.kind is PlaceKind.STORE:
            return ObjectStoreSink(str(choice))
        return TracesSink(load_config(config.api_key, place.url, config.team_id), transport=transport)
    if not all(hasattr(choice, name) for name in ("name", "destination", "start", "send", "close")):
        reason = f"each must be a sink, an address or a folder, not {type(choice).__name__}"
        raise ConfigurationError("sinks", reason)
    sink: Sink = choice
    return sink


def needs_key(sinks: Sequence[Sink]) -> bool:
    """Whether one of them sends to a traces service without a key that it would need."""
    return any(isinstance(sink, TracesSink) and not sink.config.api_key for sink in sinks)


def is_service(destination: Destination) -> bool:
    """Whether a batch waits for a traces service, and not for a store."""
    return destination.place.startswith(("http://", "https://"))


def store_sink(destination: Destination) -> Sink:
    """A sink for what waits for a store or a folder, with the settings that the environment has.

    Raises:
        ConfigurationError: there can be none, without obstore for example.
    """
    place = parse_place("place", destination.place)
    if place.kind is PlaceKind.FOLDER:
        return FileSink(place.folder, destination=destination)
    here = str(whole_place(place, {}))
    if here != str(place):  # or it would be sent elsewhere than it was logged for
        raise ConfigurationError("place", f"{place}: the environment says that it is {here}: unset what names that")
    return ObjectStoreSink(destination.place, destination=destination)
