"""The names of the spool's folders and files.

A run's id may be any text, so its folder's name is the id percent-encoded: UTF-8 bytes other than `a-z 0-9 _ -` and
dots inside become `%` and two lower-case hex digits. Capital letters are among them, since a file system that ignores
case would give `A` and `a` one folder. An id too long for a file name is cut and ends with `~` and a hash. When a
folder is in use, the run takes the next one: `name~2`, `name~3`, ... Encoded text never holds a `~`, so the three
cannot be mistaken.

A batch's files are `<seq>-<digest>.<kind>.jsonl.gz` (`.jsonl` when not compressed) and `<seq>-<digest>.<kind>.json`.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import unquote_to_bytes

from uploader.models import LineFormat

LOCK: Final = "lock"
"""The file that a folder's user holds a lock on."""

REJECTED: Final = "rejected"
"""The folder, inside a run's, of what was set aside."""

METRICS: Final = "metrics.jsonl"
UNTOLD: Final = "platform.jsonl"
TELLING: Final = "platform.jsonl.telling"
UNTOLD_FILES: Final = (UNTOLD, TELLING, f"{TELLING}.part")
"""What the platform is still to be told of a run; while it is told; and what is left of that, while it is written."""
"""The file, inside a run's, of metrics that no platform was told of; no batch, and nothing to be sent."""

MAX_FOLDERS: Final = 9999
"""How many folders one run may have at once."""

_EMPTY: Final = "%"  # what an empty id is called; a `%` without digits stands for nothing else
_MAX_QUOTED: Final = 200
_MAX_CUT: Final = 120
_SAFE: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_FOLDER: Final = re.compile(r"(?P<quoted>[^~]+)(?P<hash>~[0-9a-f]{32})?(?:~[1-9][0-9]{0,3})?", re.DOTALL)
_QUOTED: Final = re.compile(r"%|(?!\.)(?:[a-z0-9_.-]|%[0-9a-f]{2})+")
_FILE: Final = re.compile(
    r"(?P<seq>[0-9]{8,18})-(?P<digest>[0-9a-f]{64})\.(?P<kind>trace|episode)"
    r"\.(?:(?P<data>jsonl(?P<gz>\.gz)?)|json)(?P<state>\.part|\.done|\.damaged)?",
    re.ASCII,
)


class Role(StrEnum):
    """What one file of a batch is; the value is what its name ends with."""

    DATA = ""
    """The lines."""

    MANIFEST = ".json"
    """What there is to know of them; a batch is spooled once this is in place."""

    DATA_PART = ".jsonl.part"
    """Lines that are being written."""

    MANIFEST_PART = ".json.part"
    """A manifest that is being written, or waits for its lines."""

    DONE = ".json.done"
    """The manifest of a batch that is let go: what is left of it is to be removed."""

    DAMAGED = ".json.damaged"
    """A manifest that was set aside because it is not what was written."""


@dataclass(frozen=True, slots=True)
class BatchName:
    """What the names of a batch's files say.

    Attributes:
        seq: its number in its folder.
        digest: of its lines, 64 lowercase hex characters.
        line_format: what its lines hold.
        compressed: whether its lines are kept as gzip.
    """

    seq: int
    digest: str
    line_format: LineFormat
    compressed: bool = True

    @property
    def stem(self) -> str:
        """What all its files' names begin with."""
        return f"{self.seq:08d}-{self.digest}.{self.line_format}"

    def file(self, role: Role) -> str:
        """The name of one of its files."""
        if role is Role.DATA or role is Role.DATA_PART:
            part = ".part" if role is Role.DATA_PART else ""
            return f"{self.stem}.jsonl{'.gz' if self.compressed else ''}{part}"
        return f"{self.stem}{role}"


def parse_file(name: str) -> tuple[BatchName, Role] | None:
    """Which file of which batch a name is for; None if it is no batch's. Of a manifest `compressed` says nothing."""
    if (match := _FILE.fullmatch(name)) is None:
        return None
    is_data, state = match["data"] is not None, match["state"] or ""
    if is_data and state not in ("", ".part"):
        return None
    batch = BatchName(
        seq=int(match["seq"]),
        digest=match["digest"],
        line_format=LineFormat(match["kind"]),
        compressed=match["gz"] is not None or not is_data,
    )
    if is_data:
        return batch, Role.DATA_PART if state else Role.DATA
    return batch, Role(f".json{state}")


def quote_run(run_id: str) -> str:
    """The name of a run's first folder."""
    raw = run_id.encode("utf-8", "surrogatepass")
    last = len(raw) - 1
    units = [
        chr(byte) if byte in _SAFE or (byte == 0x2E and 0 < index < last) else f"%{byte:02x}"
        for index, byte in enumerate(raw)
    ]
    quoted = "".join(units) or _EMPTY
    if len(quoted) <= _MAX_QUOTED:
        return quoted
    cut = quoted[:_MAX_CUT]
    if "%" in cut[-2:]:  # not through the middle of an encoded byte
        cut = cut[: cut.rindex("%")]
    return f"{cut}~{hashlib.sha256(raw).hexdigest()[:32]}"


def folder_names(run_id: str) -> Iterator[str]:
    """The names that a run's folders may have, the first one first."""
    name = quote_run(run_id)
    yield name
    for number in range(2, MAX_FOLDERS + 1):
        yield f"{name}~{number}"


def is_folder_name(name: str) -> bool:
    """Whether a run's folder may be called so."""
    match = _FOLDER.fullmatch(name)
    return match is not None and _QUOTED.fullmatch(match["quoted"]) is not None


def unquote_run(name: str) -> str:
    """The run's id that a folder's name tells; of an id that was cut, its beginning and an ellipsis."""
    match = _FOLDER.fullmatch(name)
    quoted = match["quoted"] if match else name
    raw = b"" if quoted == _EMPTY else unquote_to_bytes(quoted)
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # cut through a character
        text = raw.decode("utf-8", "ignore")
    return f"{text}…" if match and match["hash"] else text
