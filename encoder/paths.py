"""Which fast paths may be taken: all of them, unless a test switches some off.

This is for tests alone, and no part of the public interface. A fast path writes the bytes that the plain way beside it
writes; so every case is encoded both ways. What is switched off is left out when a class is compiled or a record is
begun: nothing is asked for each value.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class Paths:
    """The switches, each true where its fast path may be taken.

    Attributes:
        plans: a class is written by its plan; else pydantic dumps the record as a whole, and the tree that it makes is
            written in steps.
        simple_forms: small values, and whole models by compiled functions, are gathered and written by one call; else
            each container and each text has steps of its own.
        joined_columns: short columns are joined, and floats are looked up in a table; else each column is rounded
            exactly and written by a call of its own.
        compiled: the compiled part, where it is there, writes rows of items and columns; else all is written in Python.
        kept: the attribute where a class keeps the plan that was compiled under these switches.
    """

    __slots__ = ("compiled", "joined_columns", "kept", "plans", "simple_forms")

    def __init__(self) -> None:
        self._set(plans=True, simple_forms=True, joined_columns=True, compiled=True)

    def _set(self, *, plans: bool, simple_forms: bool, joined_columns: bool, compiled: bool) -> None:
        self.plans = plans
        self.simple_forms = simple_forms
        self.joined_columns = joined_columns
        self.compiled = compiled
        self.kept = "__encoder_plan__" if simple_forms else "__encoder_plan_in_steps__"

    @contextmanager
    def only(
        self,
        *,
        plans: bool = False,
        simple_forms: bool = False,
        joined_columns: bool = False,
        compiled: bool = False,
    ) -> Iterator[None]:
        """Switch all other fast paths off for a while, in every thread; a record that is begun goes on as it began."""
        before = {name: getattr(self, name) for name in ("plans", "simple_forms", "joined_columns", "compiled")}
        self._set(plans=plans, simple_forms=simple_forms, joined_columns=joined_columns, compiled=compiled)
        try:
            yield
        finally:
            self._set(**before)


PATHS: Final = Paths()
