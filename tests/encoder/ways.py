"""The ways that a case is run: with every fast path, and with some or all of them switched off."""

from dataclasses import dataclass, field
from typing import Final

from encoder.paths import PATHS


@dataclass(frozen=True)
class Way:
    """One way to run a case.

    Attributes:
        name: as it stands in the test's id.
        switches: the fast paths that may be taken, as `PATHS.only` takes them.
        divisor: the part of a test's generated examples that is run this way.
    """

    name: str
    switches: dict[str, bool] = field(hash=False)
    divisor: int = 1


ALL_FAST: Final = Way("fast", {"plans": True, "simple_forms": True, "joined_columns": True, "compiled": True})
IN_PYTHON: Final = Way("in Python", {"plans": True, "simple_forms": True, "joined_columns": True}, 2)
PLAIN_COLUMNS: Final = Way("plain columns", {"plans": True, "simple_forms": True}, 4)
IN_STEPS: Final = Way("in steps", {"plans": True}, 5)
DUMPED: Final = Way("dumped", {}, 10)

# Where the compiled part was not built, the first two are the same.
WAYS: Final = (ALL_FAST, IN_PYTHON, IN_STEPS, DUMPED)
COLUMN_WAYS: Final = (ALL_FAST, IN_PYTHON, PLAIN_COLUMNS, IN_STEPS, DUMPED)


def all_fast() -> bool:
    """Whether every fast path may be taken now."""
    return PATHS.plans and PATHS.simple_forms and PATHS.joined_columns and PATHS.compiled
