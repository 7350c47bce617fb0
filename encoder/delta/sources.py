"""Where the bytes of a record's parts come from: by plan, as in one dump, or of what pydantic dumps at once.

A source tells the fields of an episode or a trace in the order of the record, the bytes of each, and of a list that
grows those of any of its items. What the plan of a class cannot vouch for is dumped as a whole for each delta.
"""

from collections.abc import Generator
from itertools import takewhile
from typing import Any, Final, NamedTuple, Protocol

from encoder.delta.fields import FieldGatherer, Without
from encoder.delta.ledger import RUN, TRACES
from encoder.filters import IndexFilter, Unclear
from encoder.records import Episode, Trace
from encoder.schema import extras_of
from encoder.splicer import drive
from encoder.writers.base import Label, Run, Steps
from encoder.writers.fields import FieldPlan
from encoder.writers.instances import Instance
from encoder.writers.lists import ListWriter
from encoder.writers.models import ModelWriter
from encoder.writers.trees import write_tree

GROWING: Final = frozenset({"nodes", "calls", "errors", "extra_usage", "request_rewrites", "response_rewrites"})
"""The fields that are lists, and get more items as a rollout goes on."""

ALL: Final = "__all__"

# What stands before the run in a record.
_BEFORE_RUN: Final = {
    name for cls in (Episode, Trace) for name in takewhile(lambda name: name != RUN, cls.model_fields)
}

Pieces = list[bytes]


class Source(Protocol):
    """The parts of an episode or a trace.

    Attributes:
        id: what it is known by among its neighbours.
        fields: the names of its fields, in order; of those that may be left out by their value, too.
        lengths: how many items those lists have that are given item by item.
    """

    id: Any
    fields: list[str]
    lengths: dict[str, int]

    def values(self) -> Generator[None, None, dict[str, Pieces]]:
        """The value of each field that is no such list, unless it is left out."""
        ...

    def items(self, name: str, start: int, end: int) -> Generator[None, None, Pieces]:
        """Some items of a list, without the brackets."""
        ...


class Place(NamedTuple):
    """Where an episode or a trace stands in the record.

    Attributes:
        depth: how many containers are around it.
        labels: its path.
        has_traces: whether it is an episode.
    """

    depth: int = 0
    labels: tuple[Label, ...] = ()
    has_traces: bool = False


class Planned:
    """A model whose plan is followed."""

    def __init__(self, model: Any, writer: ModelWriter, run: Run, exclude: Any, place: Place) -> None:
        """Args: the model, its class's writer, the run, what is left out, and where the model stands.

        Raises:
            Unclear: the plan is not enough.
        """
        if type(model) is not writer.plan.cls or not writer.has_plain_attributes(model) or extras_of(model):
            raise Unclear
        self.id = model.__dict__.get("id")
        self.fields: list[str] = []
        self.lengths: dict[str, int] = {}
        self.traces_exclude: Any = None
        self._model, self._plan, self._run, self._exclude, self._place = model, writer.plan, run, exclude, place
        self._lists: dict[str, tuple[ListWriter, list[Any], Any]] = {}
        self._left_out: set[str] = set()
        filter_ = Without(exclude)
        declared = (writer.plan.fields.get(name) for name in model.__dict__)
        for field in (*declared, *writer.plan.computed):
            kept, _, spec = (False, None, None) if field is None else filter_.of(field.name)
            if field is not None and kept and not field.excluded:
                self._meet(field, spec)

    def _meet(self, field: FieldPlan, spec: Any) -> None:
        """Take note of a field, and of what is left out inside of it."""
        name, value = field.name, self._model.__dict__.get(field.name)
        aliased = self._plan.by_alias if self._run.by_alias is None else self._run.by_alias
        key = field.alias if aliased else name
        if key != name and name in (RUN, TRACES):
            raise Unclear  # these are known by their names
        self.fields.append(key)
        if name == TRACES and self._place.has_traces:
            self.traces_exclude = spec
            self._left_out.add(name)
        elif name in GROWING and type(value) is list and isinstance(field.writer, ListWriter):
            if field.exclude_if is not None or not is_for_each(spec):
                return
            IndexFilter(None, spec, len(value))
            self._lists[key] = (field.writer, value, spec)
            self.lengths[key] = len(value)
            self._left_out.add(name)

    def values(self) -> Generator[None, None, dict[str, Pieces]]:
        """The value of each field that is no growing list, unless it is left out."""
        depth, labels, _ = self._place
        gatherer = FieldGatherer(self._run, depth)
        filter_ = Without(self._exclude, self._left_out)
        yield from drive(Instance(self._plan, self._model, self._run, filter_, depth, gatherer).steps(), labels)
        return gatherer.texts()

    def items(self, name: str, start: int, end: int) -> Generator[None, None, Pieces]:
        """Some items of a list, without the brackets."""
        writer, value, spec = self._lists[name]
        depth, labels, _ = self._place
        steps = writer.steps(value[start:end], self._run, None, spec, depth + 1)
        assert steps is not None  # noqa: S101 - what is left out was clear to begin with
        return (yield from _inside(steps, self._run, (*labels, name), start))


class Dumped:
    """What pydantic has made of an episode or a trace."""

    def __init__(self, tree: dict[str, Any], run: Run, place: Place, identity: Any, *, has_run: bool) -> None:
        """Args: the tree, the run, where it stands, its id, whether it would have a run if it had been given one."""
        self.id = identity
        self.fields = list(tree)
        self.lengths = {name: len(tree[name]) for name in GROWING if type(tree.get(name)) is list}
        self._tree, self._run, self._place = tree, run, place
        if has_run and RUN not in tree:
            before = [position for position, name in enumerate(self.fields) if name in _BEFORE_RUN]
            self.fields.insert(max(before, default=-1) + 1, RUN)

    def values(self) -> Generator[None, None, dict[str, Pieces]]:
        """The value of each field that is no growing list."""
        depth, labels, has_traces = self._place
        found = {}
        for name, value in self._tree.items():
            if name not in self.lengths and not (name == TRACES and has_traces):
                yield from drive(write_tree(value, self._run, depth + 1), (*labels, name))
                found[name] = self._run.out.copy()
                self._run.out.clear()
        return found

    def items(self, name: str, start: int, end: int) -> Generator[None, None, Pieces]:
        """Some items of a list, without the brackets."""
        depth, labels, _ = self._place
        steps = write_tree(self._tree[name][start:end], self._run, depth + 1)
        return (yield from _inside(steps, self._run, (*labels, name), start))


def is_for_each(spec: Any) -> bool:
    """Whether a specification for a list says the same of each item, whatever its index."""
    return spec is None or (type(spec) is dict and spec.keys() == {ALL})


def _inside(steps: Steps, run: Run, labels: tuple[Label, ...], start: int) -> Generator[None, None, Pieces]:
    """What stands inside of the brackets that some steps write."""
    yield from drive(steps, labels, start)
    pieces = run.out[1:-1]
    run.out.clear()
    return pieces
