"""Write one instance of a model: its fields in its own order, what it was given besides, its computed fields."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from pydantic import BaseModel

from encoder.conditions import Condition
from encoder.filters import WHOLE, Kept, NameFilter
from encoder.schema import Serializer, extras_of, fields_set_of, stand_in
from encoder.writers.base import (
    HEAVY,
    MAX_WEIGHT,
    UNKNOWN,
    Run,
    Steps,
    Unwritable,
)
from encoder.writers.calls import dumped
from encoder.writers.fields import ClassPlan, FieldPlan
from encoder.writers.gather import MemberGatherer
from encoder.writers.snapshots import lengths_of, members_of
from encoder.writers.trees import write_tree
from encoder.writers.weights import weigh

# Stands for the value of a field that is not in the instance.
_MISSING: Final = object()

# What pydantic takes for an answer of an `exclude_if`.
_BOOLS: Final = (bool, np.bool_)


class Instance:
    """One instance while it is written."""

    __slots__ = ("_aliased", "_depth", "_filter", "_gatherer", "_model", "_plan", "_run", "_values")

    def __init__(
        self,
        plan: ClassPlan,
        model: BaseModel,
        run: Run,
        filter_: NameFilter | None,
        depth: int,
        gatherer: MemberGatherer | None = None,
    ) -> None:
        """Args: the class's plan, the instance, the run, the filter, the containers around it, what gathers."""
        self._plan = plan
        self._model = model
        self._run = run
        self._filter = filter_
        self._depth = depth
        self._gatherer = MemberGatherer(run, depth) if gatherer is None else gatherer
        self._aliased = plan.by_alias if run.by_alias is None else run.by_alias
        # The instance's values when it was reached.
        self._values: dict[str, Any] = {}

    def steps(self) -> Steps:
        """Write the whole instance."""
        run, model = self._run, self._model
        run.enter(model, self._depth)
        run.out.append(b"{")
        # The instance's values as they are now: what a serializer changes afterwards does not count.
        self._values = dict(model.__dict__)
        around = run.lengths
        if self._plan.hook is not None:
            run.lengths = lengths_of(self._values.values())
        yield from self._declared()
        extras = extras_of(model) if self._plan.takes_extras else None
        if extras:
            yield from self._extras(extras)
        if self._plan.computed and run.computed:
            yield from self._computed()
        run.lengths = around
        self._gatherer.flush()
        run.out.append(b"}")
        run.leave(model)
        yield None

    def _said(self, name: str) -> Kept:
        """What the filter says of a field."""
        return WHOLE if self._filter is None else self._filter.of(name)

    def _declared(self) -> Steps:
        """The fields."""
        run, gatherer, fields = self._run, self._gatherer, self._plan.fields
        given = fields_set_of(self._model) if run.exclude_unset else None
        for name, value in self._values.items():
            plan = fields.get(name)
            if plan is None or plan.excluded or (value is None and run.exclude_none):
                continue
            if given is not None and name not in given:
                continue
            kept = self._said(name)
            if not kept[0]:
                continue
            key = plan.alias if self._aliased else name
            written: Any = UNKNOWN
            if kept is WHOLE:
                weight = run.weight
                written = None if value is None and plan.nullable else plan.writer.simple(value, run)
                if written is not HEAVY and written is not UNKNOWN:
                    if plan.exclude_if is not None and _is_left_out(plan.exclude_if, value, key):
                        run.block.forget()
                    elif gatherer.add(key, written, run.weight - weight):
                        yield None
                    continue
                run.block.forget()
            yield from self._large(plan, key, value, kept, written is HEAVY)

    def _extras(self, extras: dict[str, Any]) -> Steps:
        """The values that the class does not declare."""
        run, gatherer, writer = self._run, self._gatherer, self._plan.extra
        for name, value in members_of(extras, len(extras)):
            if value is None and run.exclude_none:
                continue
            kept = self._said(name)
            if not kept[0]:
                continue
            weight = run.weight
            written = writer.simple(value, run) if kept is WHOLE else UNKNOWN
            if written is not HEAVY and written is not UNKNOWN:
                if gatherer.add(name, written, run.weight - weight):
                    yield None
                continue
            run.block.forget()
            yield from self._large(FieldPlan(name, name, writer), name, value, kept, written is HEAVY)

    def _computed(self) -> Steps:
        """The computed fields, read from the instance as it is by now."""
        run, gatherer = self._run, self._gatherer
        hook = self._plan.hook
        known: Mapping[str, object] = {} if hook is None else (yield from hook(self._model, run.memo, run.length_of))
        for plan in self._plan.computed:
            kept = self._said(plan.name)
            if not kept[0]:
                continue
            key = plan.alias if self._aliased else plan.name
            if kept is not WHOLE or plan.serializer is None:
                yield from self._left_to_pydantic(plan.name, key, _MISSING, kept)
                continue
            value = known[plan.name] if plan.name in known else self._read(plan.name, key)
            if value is None and run.exclude_none:
                continue
            weight = run.weight
            written = None if value is None and plan.nullable else plan.writer.simple(value, run)
            if written is HEAVY or written is UNKNOWN:
                run.block.forget()
                gatherer.separate(key)
                yield key, self._other(plan.serializer(), value)
            elif gatherer.add(key, written, run.weight - weight):
                yield None

    def _read(self, name: str, key: str) -> Any:
        """The value of a computed field; an error is told by its key."""
        try:
            return getattr(self._model, name)
        except Exception as error:
            raise Unwritable((key,)) from error

    def _other(self, serializer: Serializer, value: Any) -> Steps:
        """Write what pydantic makes of a computed value that is not as declared."""
        yield from write_tree(dumped(serializer, value, self._run), self._run, self._depth + 1)

    def _large(self, plan: FieldPlan, key: str, value: Any, kept: Kept, heavy: bool) -> Steps:
        """Write a field that has no simple form: by steps of its own, or by what pydantic makes of it."""
        _, include, exclude = kept
        steps = None
        if heavy or kept is not WHOLE:
            steps = plan.writer.steps(value, self._run, include, exclude, self._depth + 1)
        if steps is None:
            yield from self._left_to_pydantic(plan.name, key, value, kept)
        elif plan.exclude_if is None or not _is_left_out(plan.exclude_if, value, key):
            self._gatherer.separate(key)
            yield key, steps

    def _left_to_pydantic(self, name: str, key: str, value: Any, kept: Kept) -> Steps:
        self._gatherer.flush()  # a serializer of the user's may change what is held
        yield key, self._dumped(name, value, kept)

    def _dumped(self, name: str, value: Any, kept: Kept) -> Steps:
        """Write what pydantic makes of one field, which is what it makes of it inside of the whole instance."""
        _, include, exclude = kept
        model = self._model
        if value is not _MISSING and model.__dict__.get(name, value) is not value:
            model = stand_in(model, self._values)  # somebody has changed it since
        members = dumped(
            self._plan.serializer,
            model,
            self._run,
            include={name} if include is None else {name: include},
            exclude=None if exclude is None else {name: exclude},
            suspect=value,
        )
        for key, tree in members.items():
            room = weigh(tree, MAX_WEIGHT)
            if room < 0:
                self._gatherer.separate(key)
                yield from write_tree(tree, self._run, self._depth + 1)
            elif self._gatherer.add(key, tree, MAX_WEIGHT - room):
                yield None


def _is_left_out(condition: Condition, value: Any, key: str) -> bool:
    """Whether a field's `exclude_if` leaves it out; an error is told by its key."""
    try:
        said: object = condition(value)
        if not isinstance(said, _BOOLS):
            what = "'None'" if said is None else f"'{type(said).__name__}' object"
            raise TypeError(f"{what} is not an instance of 'bool'")
    except Exception as error:
        raise Unwritable((key,)) from error
    return bool(said)
