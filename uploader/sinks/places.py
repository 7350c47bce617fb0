"""Where batches may go, as users write it: a service, an object store, a folder.

    https://host                      a traces service
    s3://bucket/prefix                an object store; also gs://, az://, abfs:// and abfss://
    s3://minio/prefix?endpoint=URL    the same at an address of its own
    file:///path, /path, path         a folder

What is not secret about a store may stand in the address, so that whoever is given the address alone finds the store:
a spool, another shell. Secrets never do; they come from the environment, or are given as arguments.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote_to_bytes, urlencode, urlsplit

from uploader.arguments import usable_path, usable_text
from uploader.errors import ConfigurationError

SCHEMES: Final = ("s3", "gs", "az", "abfs", "abfss")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?=//)")

_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "s3": ("endpoint", "region"),
    "gs": ("endpoint",),
    "az": ("endpoint", "account"),
}
"""What an address may say of a store, behind a question mark."""


class PlaceKind(Enum):
    """What is there."""

    SERVICE = "service"
    STORE = "store"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Place:
    """Where batches go.

    Attributes:
        kind: what is there.
        url: the address, without what stands behind a question mark; of a folder `file://`.
        options: what stands there.
    """

    kind: PlaceKind
    url: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The kind of store: `s3`, `gs` or `az`."""
        scheme = self.url.partition(":")[0]
        return scheme if scheme in _OPTIONS else "az"

    @property
    def folder(self) -> Path:
        """The folder's path."""
        return Path(os.fsdecode(unquote_to_bytes(urlsplit(self.url).path)))

    def __str__(self) -> str:
        query = urlencode(sorted(self.options.items()), safe=":/")
        return f"{self.url}?{query}" if query else self.url


def parse_place(option: str, text: str | os.PathLike[str]) -> Place:
    """Read an address.

    Args:
        option: what it is given as, for errors.
        text: the address.

    Raises:
        ConfigurationError: it is none that can be used.
    """
    match = _SCHEME.match(text) if isinstance(text, str) else None
    if match is None:
        return Place(PlaceKind.FOLDER, Path(usable_path(option, text)).absolute().as_uri())
    scheme = match[1].lower()
    url = scheme + usable_text(option, text)[len(scheme) :]
    if scheme in ("http", "https"):
        return Place(PlaceKind.SERVICE, url)
    if scheme == "file":
        return _folder(option, url)
    if scheme in SCHEMES:
        return _store(option, url)
    known = ", ".join(f"{each}://" for each in ("https", *SCHEMES, "file"))
    raise ConfigurationError(option, f"{scheme}:// is no address that is known here: {known}, or a folder")


def _folder(option: str, url: str) -> Place:
    parts = _split(option, url)
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment or not parts.path.startswith("/"):
        raise ConfigurationError(option, f"{url} is no folder on this machine: write file:///path")
    path = usable_path(option, os.fsdecode(unquote_to_bytes(parts.path)))
    return Place(PlaceKind.FOLDER, Path(path).as_uri())


def _split(option: str, url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise ConfigurationError(option, f"{url} is no address") from None


def _store(option: str, url: str) -> Place:
    parts = _split(option, url)
    shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    is_azure_host = parts.scheme.startswith("abfs") and "@" in parts.netloc  # abfss://container@account.host/
    if parts.password is not None or (parts.username is not None and not is_azure_host):
        raise ConfigurationError(option, f"{shown}: it must not hold a user or a key; give them in the environment")
    if not parts.hostname:
        raise ConfigurationError(option, f"{url} names no bucket: write {parts.scheme}://bucket/prefix")
    if parts.fragment or "//" in parts.path or {".", ".."} & set(parts.path.split("/")):
        raise ConfigurationError(option, f"{shown}: its path must be plain, without empty parts, dots or #")
    place = Place(PlaceKind.STORE, f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}")
    return Place(place.kind, place.url, _options(option, place, parts.query))


def _options(option: str, place: Place, query: str) -> dict[str, str]:
    found = dict(parse_qsl(query, keep_blank_values=True))
    known = _OPTIONS[place.family]
    if unknown := sorted(found.keys() - set(known)):
        reason = f"{', '.join(unknown)} does not belong into an address, only {', '.join(known)}: give it as `config`"
        raise ConfigurationError(option, f"{place.url}: {reason}")
    endpoint = _split(option, found.get("endpoint", "https://x"))
    if endpoint.scheme not in ("http", "https") or not endpoint.hostname or endpoint.username is not None:
        raise ConfigurationError(option, f"{place.url}: endpoint must be http://host[:port] or https://host[:port]")
    return found
