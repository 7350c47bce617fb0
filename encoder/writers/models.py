"""Models: the simple form of a small instance, and the steps of any."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from encoder.conditions import is_pure
from encoder.filters import NameFilter, Unclear
from encoder.schema import extras_of
from encoder.writers.base import (
    FIELD_WEIGHT,
    HEAVY,
    KEYS_AT_ONCE,
    LEFT_FIELD_WEIGHT,
    LEFT_WEIGHT,
    MAX_WEIGHT,
    UNKNOWN,
    Run,
    Steps,
    Variant,
    Writer,
)
from encoder.writers.calls import dumped, dumps, is_writable_key
from encoder.writers.fields import ClassPlan
from encoder.writers.instances import Instance
from encoder.writers.left import are_light
from encoder.writers.snapshots import keys_of
from encoder.writers.trees import write_tree

if TYPE_CHECKING:
    from encoder._native import Node

# Values besides the fields that an instance of a simple form may have; more are worth steps.
_SMALL: Final = 256

# Gives an instance's simple form, or HEAVY or UNKNOWN.
Flat = Callable[[Any, Run], Any]


class ModelWriter(Writer):
    """Writes the instances of exactly one class."""

    __slots__ = (
        "_flats",
        "_nodes",
        "_num_left",
        "compiler",
        "gathered",
        "levels",
        "node_compiler",
        "plan",
        "recursive",
    )

    depth = 1

    def __init__(self, plan: ClassPlan) -> None:
        """Args: what is known of the class; its fields may be filled in later."""
        self.plan = plan
        # Whether an instance may have a simple form: nothing of it is unknown or computed.
        self.gathered = False
        # Whether the class can hold itself, and then how many levels of it a simple form may have.
        self.recursive = False
        self.levels = 0
        self._num_left: int | None = None
        # Makes the function that gives simple forms; None has `slow` give them.
        self.compiler: Callable[[ModelWriter, Variant], Flat] | None = None
        self._flats: dict[Variant, Flat] = {}
        # Makes what the compiled part is told of the class; None where it is not there.
        self.node_compiler: Callable[[ModelWriter, Variant], Node | None] | None = None
        self._nodes: dict[Variant, Node | None] = {}

    def children(self) -> tuple[Writer, ...]:
        """The writers of the fields that are written."""
        fields = (*self.plan.fields.values(), *self.plan.computed)
        extra = (self.plan.extra,) if self.plan.takes_extras else ()
        return (*(field.writer for field in fields if not field.excluded), *extra)

    def flat(self, variant: Variant) -> Flat:
        """The function that gives simple forms in a run of this variant."""
        made = self._flats.get(variant)
        if made is None:
            made = self.slow if self.compiler is None else self.compiler(self, variant)
            self._flats[variant] = made
        return made

    def node(self, variant: Variant) -> "Node | None":
        """What the compiled part is told of the class in a run of this variant."""
        if variant not in self._nodes:
            self._nodes[variant] = None if self.node_compiler is None else self.node_compiler(self, variant)
        return self._nodes[variant]

    def least_weight(self) -> int:
        """What its fields weigh."""
        return FIELD_WEIGHT * len(self.plan.fields)

    def is_left(self) -> bool:
        """Whether one of its fields is, and nothing of it is computed in steps."""
        return self.plan.hook is None and self._count_left() > 0

    def most_left(self) -> int:
        """By the fields that only pydantic knows, or whose functions are called for each instance."""
        return min((1 + self._count_left()) * LEFT_FIELD_WEIGHT, LEFT_WEIGHT) if self.is_left() else 0

    def _count_left(self) -> int:
        if self._num_left is None:
            self._num_left = 0  # for a class that holds itself, while this is found out
            fields = [field for field in self.plan.fields.values() if not field.excluded]
            impure = sum(field.exclude_if is not None and not is_pure(field.exclude_if) for field in fields)
            self._num_left = impure + len(self.plan.computed) + sum(field.writer.is_left() for field in fields)
        return self._num_left

    def simple(self, value: Any, run: Run) -> Any:
        """A dict of the fields' simple forms."""
        if not self.gathered or run.exclude_unset:
            return HEAVY if type(value) is self.plan.cls else UNKNOWN
        if not self.levels:
            return self.flat(run.variant)(value, run)
        if run.level >= self.levels:
            return HEAVY
        run.level += 1
        try:
            return self.flat(run.variant)(value, run)
        finally:
            run.level -= 1

    def simple_in(self, run: Run) -> Flat:
        """The compiled function itself, where nothing stands before it."""
        return self.flat(run.variant) if self.gathered and not self.levels and not run.exclude_unset else self.simple

    def slow(self, value: Any, run: Run) -> Any:
        """The simple form, whatever the order of the fields in the instance; the model of what is compiled."""
        plan = self.plan
        if type(value) is not plan.cls:
            return UNKNOWN
        if plan.computed or not plan.fields.keys() <= value.__dict__.keys():
            return HEAVY
        limit = run.weight + MAX_WEIGHT
        aliased = plan.by_alias if run.by_alias is None else run.by_alias
        members: dict[str, Any] = {}
        for name, item in tuple(value.__dict__.items()):
            field = plan.fields.get(name)
            if field is None:
                if is_writable_key(name):
                    continue
                return HEAVY  # pydantic cannot read the instance
            if field.excluded or (item is None and run.exclude_none):
                continue
            said: object = False if field.exclude_if is None else field.exclude_if(item)
            if said is True:
                continue
            if said is not False:
                return HEAVY  # which only pydantic can judge
            written = None if item is None and field.nullable else field.writer.simple(item, run)
            if written is HEAVY or written is UNKNOWN or run.weight > limit:
                return HEAVY
            members[field.alias if aliased else name] = written
        run.weight += FIELD_WEIGHT * len(members)
        extras = extras_of(value) if plan.takes_extras else None
        return members if self.add_extras(members, extras, run) else HEAVY

    def add_extras(self, members: dict[str, Any], extras: object, run: Run) -> bool:
        """Add the simple forms of what the class does not declare; whether all of it has one, under keys of its own."""
        plan = self.plan
        if not isinstance(extras, dict) or len(extras) > _SMALL:
            return extras is None
        for name, value in extras.copy().items():
            if name in plan.taken or not is_writable_key(name):
                return False
            if value is None and run.exclude_none:
                continue
            written = plan.extra.simple(value, run)
            if written is HEAVY or written is UNKNOWN:
                return False
            run.weight += FIELD_WEIGHT
            members[name] = written
        return True

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the model field by field."""
        if type(value) is not self.plan.cls or not self.has_plain_attributes(value):
            return None
        extras = extras_of(value) if self.plan.takes_extras else None
        if extras is not None and type(extras) is not dict:
            return None
        filter_ = None
        if include is not None or exclude is not None:
            try:
                filter_ = NameFilter(include, exclude)
            except Unclear:
                return None
        elif (most := self.most_left()) and are_light([value], most):
            return self._at_once(value, run, depth)
        steps = Instance(self.plan, value, run, filter_, depth).steps()
        if not extras:
            return steps
        if len(extras) <= KEYS_AT_ONCE:
            return steps if self._are_plain(tuple(extras)) else None
        return self._with_extras(value, extras, steps, run, include, exclude, depth)

    def _at_once(self, value: BaseModel, run: Run, depth: int) -> Steps:
        """Write what pydantic makes of a small instance."""
        tree = dumped(self.plan.serializer, value, run)
        if are_light([tree]):
            run.out.append(dumps(tree, depth))
        else:
            yield from write_tree(tree, run, depth)
        yield None

    def _with_extras(
        self,
        value: BaseModel,
        extras: dict[str, Any],
        steps: Steps,
        run: Run,
        include: Any,
        exclude: Any,
        depth: int,
    ) -> Steps:
        """Write a model that was given many values besides, once the keys of all have been looked at."""
        for some in keys_of(extras, len(extras)):
            if not self._are_plain(some):
                tree = dumped(self.plan.serializer, value, run, include=include, exclude=exclude)
                yield from write_tree(tree, run, depth)
                return
            yield None
        yield from steps

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """The fields that may hold a model; None where a declared one is missing."""
        if type(value) is not self.plan.cls:
            return ()
        fields, present = self.plan.fields, value.__dict__.copy()
        if not fields.keys() <= present.keys():
            return None
        return [(field.writer, present[name]) for name, field in fields.items()]

    def _are_plain(self, names: tuple[Any, ...]) -> bool:
        """Whether pydantic writes such keys besides the fields' as they are, and none of them twice."""
        return self.plan.taken.isdisjoint(names) and all(map(is_writable_key, names))

    def has_plain_attributes(self, model: BaseModel) -> bool:
        """Whether pydantic reads the instance: not if it cannot read an attribute's name, even one it leaves out."""
        stray = model.__dict__.keys() - self.plan.fields.keys()
        return not stray or all(map(is_writable_key, stray))
