"""What was really delivered: by the receiver's index, and by the files."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.load.rollouts import episode_id

_ID: Final = re.compile(rb'\{"id":"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was found of the episodes that were logged.

    Attributes:
        episodes: how many of them there are.
        doubled: how many are there more than once.
        strange: how many there are that were never logged.
    """

    episodes: int
    doubled: int
    strange: int

    def __and__(self, other: "Delivered") -> "Delivered":
        """What was found in both of two places."""
        return Delivered(min(self.episodes, other.episodes), self.doubled + other.doubled, self.strange + other.strange)


def delivered(found: Counter[str], logged: int) -> Delivered:
    """Compare what was found with what was logged."""
    expected = {episode_id(number) for number in range(logged)}
    return Delivered(
        len(expected & found.keys()), sum(times > 1 for times in found.values()), len(found.keys() - expected)
    )


def stored(data_dir: Path) -> Counter[str]:
    """The episodes in the directory of a receiver that has ended, by id; one that was stored twice counts twice."""
    with closing(sqlite3.connect(data_dir / "index.sqlite")) as index:
        found = Counter(name for (name,) in index.execute("SELECT episode_id FROM episodes"))
        (lines,) = index.execute("SELECT coalesce(sum(lines), 0) FROM uploads").fetchone()
    # The index has each id once, with its newest line: which of them have an older one it does not say.
    for name in list(found)[: lines - len(found)]:
        found[name] += 1
    return found


def written(folder: Path) -> Counter[str]:
    """The episodes in the files of a file monitor, by id."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("rollouts/**/*.jsonl")):
        found.update(_ids(path))
    return found


def _ids(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for line in file:
            match = _ID.match(line) if line.endswith(b"}\n") else None
            yield match[1].decode() if match else f"no whole line: {json.dumps(line[:40].decode(errors='replace'))}"
