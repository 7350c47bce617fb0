"""What a killed process left of a line is cut off by the next monitor for the folder, whatever that one writes to.

Which files that can be:

1. `metrics.jsonl`.
2. Those that were open. Others were forced to disk when they were closed. A process notes the folders of what is open
   before it opens more, and its note outlives it.
3. In each folder only the last file of each compression, as a file that has its size is closed.
4. Where there is no note, as the folder was copied without hidden files: as many steps as one process has files open,
   the latest ones.

So the work has a bound, however many steps there are: some hundred looks into folders, and at the last byte or the last
line of as many files. Only one that is torn is read as a whole, where it is compressed.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Final, get_args

from uploader.errors import ConfigurationError
from uploader.monitors.appending import AppendedFile
from uploader.monitors.chunks import ROLLOUTS, chunk_name, folder_of, last_chunks
from uploader.monitors.codecs import Codec, Compress, open_codec
from uploader.monitors.data import Kind, Subset, Where
from uploader.monitors.file_metrics import METRICS
from uploader.monitors.open_files import MAX_OPEN

logger = logging.getLogger(__name__)

_PLACE: Final = re.compile(rf"{ROLLOUTS}/step_-?\d+/\w+/\w+", re.ASCII)
_STEP: Final = re.compile(r"step_(-?\d+)", re.ASCII)


def mend(root: Path, noted: Iterable[str]) -> None:
    """Cut off what is left of a line, in every file that a killed process can have had open.

    A file that cannot be mended is named in a warning, and holds up no other.

    Args:
        root: the monitor's folder, which nobody else writes to.
        noted: the folders in it that the last process noted.
    """
    codecs = {codec.suffix: codec for codec in _codecs()}
    _mend_file(root / METRICS, codecs[""])
    places = [root / name for name in noted if _PLACE.fullmatch(name)]
    for folder in dict.fromkeys([*places, *_latest(root)]):
        with suppress(OSError):  # it is no folder, or somebody else's
            for suffix, number in last_chunks(folder).items():
                if suffix in codecs:
                    _mend_file(folder / (chunk_name(number) + suffix), codecs[suffix])


def _codecs() -> Iterator[Codec]:
    """All that are installed: the last process may have used another."""
    for compress in (None, *get_args(Compress)):
        with suppress(ConfigurationError):
            yield open_codec(compress)


def _latest(root: Path) -> Iterator[Path]:
    """The folders of the latest steps."""
    try:
        found = [_STEP.fullmatch(name) for name in os.listdir(root / ROLLOUTS)]
    except OSError:
        return
    steps = sorted(int(each[1]) for each in found if each is not None)
    for step, kind, subset in product(steps[-MAX_OPEN:], get_args(Kind), get_args(Subset)):
        yield folder_of(root, Where(step, kind, subset))


def _mend_file(path: Path, codec: Codec) -> None:
    try:
        if not codec.ends_whole(path):
            AppendedFile(path, codec).close()  # which cuts it
    except FileNotFoundError:
        pass
    except OSError as error:
        logger.warning("%s may end within a line, which could not be mended: %s", path, error)
