"""From what users say of a sink to the sink: an address, or a sink of their own; and from what a spool says of it."""

import os
from collections.abc import Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

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

    A service that is given by its address is called `traces`, as long as no other sink is; else by its host and port.

    Args:
        choices: see `SinkChoice`; None for the service alone.
        config: the configured service.
        transport: for the sinks of a service, an httpx transport to use instead of the network.

    Raises:
        ConfigurationError: one is no sink and no address, two have the same name, or two are the same service.
    """
    if choices is None:
        return [TracesSink(config, transport=transport)]
    if isinstance(choices, str | os.PathLike) or not isinstance(choices, Sequence):
        raise ConfigurationError("sinks", f"it must be a list, even of one, not {type(choices).__name__}")
    found = [_sink_or_service(choice, config, transport) for choice in choices]
    if not found:
        raise ConfigurationError("sinks", "there is none: batches would go nowhere")
    taken = [each.name for each in found if not isinstance(each, Config)]
    if double := _double(taken):
        raise ConfigurationError("sinks", f"two have the name {double!r}: give one of them another")
    services = [each.base_url for each in found if isinstance(each, Config)] + [config.base_url] * (SERVICE in choices)
    if double := _double(services):
        raise ConfigurationError("sinks", f"two are the service {double}: everything would be sent there twice")
    return [
        TracesSink(each, name=_free_name(each, taken), transport=transport) if isinstance(each, Config) else each
        for each in found
    ]


def _double(texts: Sequence[str]) -> str | None:
    """The first text that is there twice."""
    return next((text for place, text in enumerate(texts) if text in texts[:place]), None)


def _free_name(service: Config, taken: list[str]) -> str:
    """A name for a service that no other sink has; it is taken from now on."""
    names = (SERVICE, urlsplit(service.base_url).netloc, service.base_url)
    name = next((name for name in names if name not in taken), service.base_url)
    taken.append(name)
    return name


def _sink_or_service(choice: Any, config: Config, transport: httpx.AsyncBaseTransport | None) -> Sink | Config:
    """A sink; or what is known of a service that was given by its address, and has no name yet."""
    if choice == SERVICE:
        return TracesSink(config, transport=transport)
    if isinstance(choice, str | os.PathLike):
        place = parse_place("sinks", choice)
        if place.kind is PlaceKind.FOLDER:
            return FileSink(place.folder)
        if place.kind is PlaceKind.STORE:
            return ObjectStoreSink(str(choice))
        return load_config(config.api_key, place.url, config.team_id)
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
