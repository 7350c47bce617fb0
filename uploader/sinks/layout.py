"""Where a batch is in a store: `<run>/<kind>/<digest>.jsonl.gz`, below whatever prefix the store has.

The digest is that of the lines, so that the same batch has one name, whoever writes it and however often; readers that
know nothing of this package find out by the name's end that it is gzip. The run is named as its folder in the spool.
"""

import re
from dataclasses import dataclass
from typing import Final

from uploader.models import LineFormat
from uploader.spool.names import quote_run

_NAME: Final = re.compile(r"(?P<digest>[0-9a-f]{64})\.jsonl(?P<gz>\.gz)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredName:
    """What the name of a batch says.

    Attributes:
        digest: SHA-256 of its lines, 64 lowercase hex characters.
        compressed: whether it is gzip.
    """

    digest: str
    compressed: bool = True

    def __str__(self) -> str:
        return f"{self.digest}.jsonl{'.gz' if self.compressed else ''}"


def kind_folder(run_id: str, line_format: LineFormat) -> str:
    """Where the batches of one run and kind are, without a slash at either end."""
    return f"{quote_run(run_id)}/{line_format}"


def parse_name(name: str) -> StoredName | None:
    """Which batch a file or an object is, by the last part of its path; None if it is none."""
    match = _NAME.fullmatch(name)
    return None if match is None else StoredName(match["digest"], match["gz"] is not None)
