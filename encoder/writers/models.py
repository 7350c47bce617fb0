"""Models: field by field in the order of the instance, then what it was given besides, then computed fields."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from encoder.filters import WHOLE, Kept, NameFilter, Unclear
from encoder.schema import Serializer, extras_of, fields_set_of
from encoder.writers.base import (
    HEAVY,
    MAX_DEPTH,
    MAX_WEIGHT,
    UNKNOWN,
    CircularError,
    Run,
    Steps,
    TooDeepError,
    Writer,
    dumped,
    is_writable_key,
)
from encoder.writers.gather import MemberGatherer
from encoder.writers.plain import weigh, write_tree

# What a model may define to compute costly fields in steps: a generator function that is given `Run.memo`, yields now
# and then, and returns the values by the fields' names.
Hook = Callable[[Any, dict[int, tuple[object, object]]], Generator[None, None, dict[str, object]]]


# Stands for the value of a field that is computed, when it cannot be written.
_NOTHING: Final = object()


# Gives an instance's simple form, or HEAVY or UNKNOWN.
Flat = Callable[[Any, Run], Any]

# What of a run decides which keys are written: exclude_none and by_alias.
Variant = tuple[bool, bool | None]


@dataclass(slots=True)
class FieldPlan:
    """How one field is written.

    Attributes:
        name: its name in the class, and in include and exclude.
        alias: its key where aliases are asked for.
        writer: writes its values; a plain `Writer` where only pydantic can.
        nullable: whether None is null before the writer is asked.
        excluded: left out always.
        exclude_if: leaves it out by its value.
        serializer: makes pydantic's serializer for the values of a computed field.
    """

    name: str
    alias: str
    writer: Writer
    nullable: bool = False
    excluded: bool = False
    exclude_if: Callable[[Any], bool] | None = None
    serializer: Callable[[], Serializer] | None = None


class ModelWriter(Writer):
    """Writes the instances of exactly one class."""

    __slots__ = (
        "_flats",
        "_serializer",
        "_taken",
        "by_alias",
        "cls",
        "compiler",
        "computed",
        "extra",
        "fields",
        "gathered",
        "hook",
        "takes_extras",
    )

    depth = 1

    def __init__(self, cls: type[BaseModel], serializer: Serializer, by_alias: bool, extra: Writer) -> None:
        """Args: the class, its own serializer, whether it writes aliases unasked, the writer of undeclared values.

        Its fields are filled in by the plan, which may come back to this class while it does.
        """
        self.cls = cls
        self.extra = extra
        self.fields: dict[str, FieldPlan] = {}
        self.computed: tuple[FieldPlan, ...] = ()
        self.hook: Hook | None = None
        # Whether an instance may have a simple form: nothing of it is unknown, computed or holds the class again.
        self.gathered = False
        self.takes_extras = cls.model_config.get("extra") == "allow"
        # Makes the function that gives simple forms; None has `slow` give them.
        self.compiler: Callable[[ModelWriter, Variant], Flat] | None = None
        self._flats: dict[Variant, Flat] = {}
        self._serializer = serializer
        self.by_alias = by_alias
        self._taken: frozenset[str] = frozenset()

    def complete(self, fields: Mapping[str, FieldPlan], computed: tuple[FieldPlan, ...]) -> None:
        """Fill in the fields."""
        self.fields = dict(fields)
        self.computed = computed
        plans = (*self.fields.values(), *computed)
        self._taken = frozenset({plan.name for plan in plans} | {plan.alias for plan in plans})

    def children(self) -> tuple[Writer, ...]:
        """The writers of the fields that are written."""
        return tuple(plan.writer for plan in (*self.fields.values(), *self.computed) if not plan.excluded)

    def flat(self, variant: Variant) -> Flat:
        """The function that gives simple forms in a run of this variant."""
        made = self._flats.get(variant)
        if made is None:
            made = self.slow if self.compiler is None else self.compiler(self, variant)
            self._flats[variant] = made
        return made

    def simple(self, value: Any, run: Run) -> Any:
        """A dict of the fields' simple forms."""
        if not self.gathered or run.exclude_unset:
            return HEAVY if type(value) is self.cls else UNKNOWN
        return self.flat(run.variant)(value, run)

    def slow(self, value: Any, run: Run) -> Any:
        """The simple form, whatever the order of the fields in the instance; the model of what is compiled."""
        if type(value) is not self.cls:
            return UNKNOWN
        if (self.takes_extras and extras_of(value)) or not self.is_whole(value):
            return HEAVY
        limit = run.weight + MAX_WEIGHT
        fields = self.fields
        aliased = self._aliased(run)
        members: dict[str, Any] = {}
        for name, item in tuple(value.__dict__.items()):
            plan = fields.get(name)
            if plan is None or plan.excluded:
                continue
            if item is None and (run.exclude_none or plan.nullable):
                if run.exclude_none or (plan.exclude_if is not None and plan.exclude_if(item)):
                    continue
                written = None
            else:
                written = plan.writer.simple(item, run)
                if written is HEAVY or written is UNKNOWN or run.weight > limit:
                    return HEAVY
                if plan.exclude_if is not None and plan.exclude_if(item):
                    continue
            members[plan.alias if aliased else name] = written
        run.weight += 16 * len(members)
        return members

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the model field by field."""
        if type(value) is not self.cls:
            return None
        filter_ = None
        if include is not None or exclude is not None:
            try:
                filter_ = NameFilter(include, exclude)
            except Unclear:
                return None
        if not self._has_plain_keys(value):
            return None
        return self._steps(value, run, filter_, depth)

    def is_whole(self, model: BaseModel) -> bool:
        """Whether no declared field is missing: inside of a union, pydantic minds."""
        return self.fields.keys() <= model.__dict__.keys()

    def _has_plain_keys(self, model: BaseModel) -> bool:
        """Whether pydantic writes the instance's keys as they are, and none of them twice.

        It refuses an attribute whose name it cannot read, though it would leave it out.
        """
        extras = extras_of(model) if self.takes_extras else None
        if extras and not (self._taken.isdisjoint(extras) and all(map(is_writable_key, tuple(extras)))):
            return False
        stray = model.__dict__.keys() - self.fields.keys()
        return not stray or all(map(is_writable_key, stray))

    def _aliased(self, run: Run) -> bool:
        return self.by_alias if run.by_alias is None else run.by_alias

    def _steps(self, model: BaseModel, run: Run, filter_: NameFilter | None, depth: int) -> Steps:
        if depth >= MAX_DEPTH:
            raise TooDeepError
        if id(model) in run.active:
            raise CircularError
        run.active.add(id(model))
        run.out.append(b"{")
        gatherer = MemberGatherer(run, depth)
        yield from self._declared(model, run, filter_, gatherer, depth)
        extras = extras_of(model) if self.takes_extras else None
        if extras:
            yield from self._extras(model, extras, run, filter_, gatherer, depth)
        if self.computed and run.computed:
            yield from self._computed(model, run, filter_, gatherer, depth)
        gatherer.flush()
        run.out.append(b"}")
        run.active.discard(id(model))
        yield None

    def _declared(
        self, model: BaseModel, run: Run, filter_: NameFilter | None, gatherer: MemberGatherer, depth: int
    ) -> Steps:
        fields = self.fields
        aliased = self._aliased(run)
        given = fields_set_of(model) if run.exclude_unset else None
        for name, value in tuple(model.__dict__.items()):
            plan = fields.get(name)
            if plan is None or plan.excluded or (value is None and run.exclude_none):
                continue
            if given is not None and name not in given:
                continue
            kept = WHOLE if filter_ is None else filter_.of(name)
            if not kept[0]:
                continue
            key = plan.alias if aliased else name
            written: Any = UNKNOWN
            if kept is WHOLE:
                weight = run.weight
                written = None if value is None and plan.nullable else plan.writer.simple(value, run)
                if written is not HEAVY and written is not UNKNOWN:
                    if (plan.exclude_if is None or not plan.exclude_if(value)) and gatherer.add(
                        key, written, run.weight - weight
                    ):
                        yield None
                    continue
                run.block.forget()
            yield from self._member(model, plan, key, value, run, kept, written is HEAVY, gatherer, depth)

    def _extras(
        self,
        model: BaseModel,
        extras: Mapping[str, Any],
        run: Run,
        filter_: NameFilter | None,
        gatherer: MemberGatherer,
        depth: int,
    ) -> Steps:
        for name, value in tuple(extras.items()):
            if value is None and run.exclude_none:
                continue
            kept = WHOLE if filter_ is None else filter_.of(name)
            if kept[0]:
                weight = run.weight
                written = self.extra.simple(value, run) if kept is WHOLE else UNKNOWN
                if written is not HEAVY and written is not UNKNOWN:
                    if gatherer.add(name, written, run.weight - weight):
                        yield None
                else:
                    run.block.forget()
                    plan = FieldPlan(name, name, self.extra)
                    yield from self._member(model, plan, name, value, run, kept, written is HEAVY, gatherer, depth)

    def _member(
        self,
        model: BaseModel,
        plan: FieldPlan,
        key: str,
        value: Any,
        run: Run,
        kept: Kept,
        heavy: bool,
        gatherer: MemberGatherer,
        depth: int,
    ) -> Steps:
        """Write a field that has no simple form: by steps of its own, or by what pydantic makes of it."""
        _, include, exclude = kept
        steps = plan.writer.steps(value, run, include, exclude, depth + 1) if heavy or kept is not WHOLE else None
        if steps is None:
            gatherer.flush()
            yield key, self._dumped(model, plan.name, run, include, exclude, gatherer, depth)
        elif plan.exclude_if is None or not plan.exclude_if(value):
            gatherer.separate(key)
            yield key, steps

    def _dumped(
        self,
        model: BaseModel,
        name: str,
        run: Run,
        include: Any,
        exclude: Any,
        gatherer: MemberGatherer,
        depth: int,
    ) -> Steps:
        """Write what pydantic makes of one field; a serializer may change what is held, so nothing is."""
        members = dumped(
            self._serializer,
            model,
            run,
            include={name} if include is None else {name: include},
            exclude=None if exclude is None else {name: exclude},
            suspect=model.__dict__.get(name, _NOTHING),
        )
        for key, tree in members.items():
            room = weigh(tree, MAX_WEIGHT)
            if room < 0:
                gatherer.separate(key)
                yield from write_tree(tree, run, depth + 1)
            elif gatherer.add(key, tree, MAX_WEIGHT - room):
                yield None

    def _computed(
        self, model: BaseModel, run: Run, filter_: NameFilter | None, gatherer: MemberGatherer, depth: int
    ) -> Steps:
        aliased = self._aliased(run)
        known: Mapping[str, object] = {}
        if self.hook is not None:
            known = yield from self.hook(model, run.memo)
        for plan in self.computed:
            kept = WHOLE if filter_ is None else filter_.of(plan.name)
            if not kept[0]:
                continue
            key = plan.alias if aliased else plan.name
            if kept[1] is not None or kept[2] is not None or plan.serializer is None:
                gatherer.flush()
                yield key, self._dumped(model, plan.name, run, kept[1], kept[2], gatherer, depth)
                continue
            value = known[plan.name] if plan.name in known else getattr(model, plan.name)
            if value is None and run.exclude_none:
                continue
            weight = run.weight
            written = None if value is None and plan.nullable else plan.writer.simple(value, run)
            if written is HEAVY or written is UNKNOWN:
                tree = dumped(plan.serializer(), value, run)
                gatherer.separate(key)
                yield key, write_tree(tree, run, depth + 1)
            elif gatherer.add(key, written, run.weight - weight):
                yield None
