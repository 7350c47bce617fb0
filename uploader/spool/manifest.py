"""The small JSON beside a batch's file: what there is to know of the batch, and a hash of the JSON itself.

Its first key is `check`, the XXH3-128 of everything after that line. So a manifest is either, byte for byte, what was
written, or it is damaged; nothing it says has to be doubted.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

import orjson
import xxhash

from uploader.models import Batch, LineFormat
from uploader.sealing import SealedBatch
from uploader.spool.batches import Destination, SpooledBatch
from uploader.spool.names import BatchName

VERSION: Final = 1

_HEAD: Final = b'{\n  "check": "'
_CHECK_LENGTH: Final = 32
_BODY_START: Final = len(_HEAD) + _CHECK_LENGTH


class ManifestError(ValueError):
    """A manifest is not what was written."""


class NewerManifestError(ManifestError):
    """A manifest is whole, but of a later version than this one knows."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known of a batch.

    Attributes:
        run_id: the run that logged it.
        seq: its number in its folder.
        line_format: what its lines hold.
        digest: SHA-256 of its lines.
        num_lines: how many; None where nobody knows, because the manifest before this one was damaged.
        first_line_number: where its first line stood in its source.
        size: its uncompressed bytes; None where nobody knows.
        compressed_size: the bytes of its file.
        content_encoding: `gzip`, or None when the lines are kept as they are.
        xxh3_128: of the file's bytes; None where nobody knows.
        created_at: when, in seconds since the epoch.
        context: names and values that the service keeps with each trace.
        waiting_for: the destinations that have not acknowledged it.
        acknowledged_by: the destinations that have.
        divided_from: the number of the batch that this is a part of.
        reason: why it was set aside; None of a batch that waits.
        set_aside_at: when.
    """

    run_id: str
    seq: int
    line_format: LineFormat
    digest: str
    num_lines: int | None
    first_line_number: int
    size: int | None
    compressed_size: int
    content_encoding: str | None
    xxh3_128: str | None
    created_at: float
    context: Mapping[str, str] = field(default_factory=dict)
    waiting_for: tuple[Destination, ...] = ()
    acknowledged_by: tuple[Destination, ...] = ()
    divided_from: int | None = None
    reason: str | None = None
    set_aside_at: float | None = None

    @property
    def name(self) -> BatchName:
        """The names of its files."""
        return BatchName(self.seq, self.digest, self.line_format, self.content_encoding is not None)

    @property
    def spooled(self) -> SpooledBatch:
        """The handle for it."""
        batch = Batch(self.digest, self.num_lines or 0, self.first_line_number, self.size or 0)
        return SpooledBatch(
            run_id=self.run_id,
            seq=self.seq,
            line_format=self.line_format,
            batch=batch,
            compressed_size=self.compressed_size,
            created_at=self.created_at,
            context=self.context,
            waiting_for=self.waiting_for,
        )

    def encode(self) -> bytes:
        """The manifest as JSON."""
        content: dict[str, Any] = {"version": VERSION}
        content |= {name: getattr(self, name) for name in _PLAIN_FIELDS}
        content["context"] = dict(self.context)
        content["destinations"] = [
            {"sink": each.sink, "place": each.place, "team": each.team, "acknowledged": acknowledged}
            for destinations, acknowledged in ((self.waiting_for, False), (self.acknowledged_by, True))
            for each in destinations
        ]
        body = b'",' + _indented(content).removeprefix(b"{") + b"\n"
        return _HEAD + _check(body) + body


def _indented(content: dict[str, Any]) -> bytes:
    """The standard library's own encoder leaves something behind that holds itself, each time that it indents."""
    numbers = [value for value in content.values() if type(value) is float]
    try:
        if all(map(math.isfinite, numbers)):
            return orjson.dumps(content, option=orjson.OPT_INDENT_2)
    except TypeError:  # a run's id may hold what UTF-8 cannot
        pass
    return json.dumps(content, indent=2).encode()


def manifest_of(
    run_id: str,
    seq: int,
    line_format: LineFormat,
    sealed: SealedBatch,
    *,
    xxh3_128: str,
    created_at: float,
    context: Mapping[str, str],
    waiting_for: tuple[Destination, ...],
) -> Manifest:
    """The manifest of a batch that is new to a folder."""
    return Manifest(
        run_id=run_id,
        seq=seq,
        line_format=line_format,
        digest=sealed.batch.digest,
        num_lines=sealed.batch.num_lines,
        first_line_number=sealed.batch.first_line_number,
        size=sealed.batch.size,
        compressed_size=sealed.compressed_size,
        content_encoding=sealed.content_encoding,
        xxh3_128=xxh3_128,
        created_at=created_at,
        context=context,
        waiting_for=waiting_for,
    )


def decode(content: bytes) -> Manifest:
    """The manifest that was written.

    Raises:
        ManifestError: these are not the bytes that were written.
        NewerManifestError: they are, by a later version of this package.
    """
    if content[: len(_HEAD)] != _HEAD or content[len(_HEAD) : _BODY_START] != _check(content[_BODY_START:]):
        raise ManifestError("it is not what was written")
    told = json.loads(content)
    if (version := told.pop("version")) != VERSION:
        raise NewerManifestError(f"it is of version {version}; this one knows {VERSION}")
    del told["check"]
    destinations: dict[bool, list[Destination]] = {False: [], True: []}
    for each in told.pop("destinations"):
        destinations[each.pop("acknowledged")].append(Destination(**each))
    told["line_format"] = LineFormat(told["line_format"])
    return Manifest(**told, waiting_for=tuple(destinations[False]), acknowledged_by=tuple(destinations[True]))


_PLAIN_FIELDS: Final = tuple(
    each.name for each in fields(Manifest) if each.name not in ("context", "waiting_for", "acknowledged_by")
)


def _check(body: bytes) -> bytes:
    return xxhash.xxh3_128_hexdigest(body).encode()
