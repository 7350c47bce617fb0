"""Where the bytes of a record's parts come from: by plan, as in one dump, or of what pydantic dumps at once.

A source tells the fields of an episode or a trace in the order of the record, the bytes of each, and of a list that
grows those of any of its items. What the plan of a class cannot vouch for is dumped as a whole for each delta.
"""

from collections.abc import Container, Generator
from itertools import takewhile
from typing import Any, Final, NamedTuple, Protocol

from encoder.delta.fields import FieldGatherer
from encoder.delta.layouts import GROWING, HEADER, Layout
from encoder.delta.ledger import RUN, TRACES
from encoder.filters import Unclear
from encoder.records import Episode, Trace
from encoder.schema import extras_of
from encoder.splicer import drive
from encoder.writers.base import Label, Run, Steps
from encoder.writers.instances import Instance
from encoder.writers.models import ModelWriter
from encoder.writers.trees import write_tree

# What stands before the run in a record.
_BEFORE_RUN: Final = {
    name for cls in (Episode, Trace) for name in takewhile(lambda name: name != RUN, cls.model_fields)
}

# Values that cannot change in place.
_UNCHANGING: Final = frozenset({str, int, float, bool, type(None)})

Pieces = list[bytes]

# Layouts by the id of the class's plan, the attributes' names, and the id of what is left out.
Layouts = dict[tuple[int, tuple[str, ...], int], Layout]


class Source(Protocol):
    """The parts of an episode or a trace.

    Attributes:
        id: what it is known by among its neighbours.
        fields: the names of its fields, in order; of those that may be left out by their value, too.
        lengths: how many items those lists have that are given item by item.
        objects: what some fields hold; one that holds the same as before need not be asked for.
    """

    id: Any
    fields: list[str]
    lengths: dict[str, int]
    objects: dict[str, Any]

    def values(self, unchanged: Container[str]) -> Generator[None, None, dict[str, Pieces]]:
        """The value of each field that is no such list, unless it is left out, or one of the unchanged."""
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

    def __init__(self, model: Any, writer: ModelWriter, run: Run, exclude: Any, place: Place, layouts: Layouts) -> None:
        """Args: the model, its class's writer, the run, what is left out, where the model stands, layouts made before.

        Raises:
            Unclear: the plan is not enough.
        """
        plan = writer.plan
        if type(model) is not plan.cls or not writer.has_plain_attributes(model) or extras_of(model):
            raise Unclear
        values = model.__dict__
        aliased = plan.by_alias if run.by_alias is None else run.by_alias
        key = (id(plan), tuple(values), id(exclude))
        layout = layouts.get(key)
        if layout is None:
            layout = Layout(plan, key[1], exclude, aliased=aliased, has_traces=place.has_traces)
            layouts[key] = layout
        self.id = values.get("id")
        self.fields = layout.keys
        self.traces = layout.traces
        self.lengths = {
            key: len(values[growing.name])
            for key, growing in layout.growing.items()
            if type(values[growing.name]) is list
        }
        self.objects = {
            key: values[name]
            for name, key in layout.watched.items()
            if name in values and (type(values[name]) in _UNCHANGING or name in HEADER)
        }
        self._model, self._plan, self._run, self._place, self._layout = model, plan, run, place, layout

    def values(self, unchanged: Container[str]) -> Generator[None, None, dict[str, Pieces]]:
        """The value of each field that is no growing list, unless it is left out, or one of the unchanged."""
        depth, labels, has_traces = self._place
        layout, gatherer = self._layout, FieldGatherer(self._run, depth)
        left_out = {name for name, key in layout.watched.items() if key in unchanged}
        left_out.update(layout.growing[key].name for key in self.lengths)
        if has_traces:
            left_out.add(TRACES)
        instance = Instance(self._plan, self._model, self._run, layout.filter(left_out), depth, gatherer)
        yield from drive(instance.steps(), labels)
        return gatherer.texts()

    def items(self, name: str, start: int, end: int) -> Generator[None, None, Pieces]:
        """Some items of a list, without the brackets."""
        depth, labels, _ = self._place
        growing = self._layout.growing[name]
        items = self._model.__dict__[growing.name][start:end]
        steps = growing.writer.steps(items, self._run, None, growing.exclude, depth + 1)
        assert steps is not None  # noqa: S101 - what is left out was clear to begin with
        return (yield from _inside(steps, self._run, (*labels, name), start))


class Dumped:
    """What pydantic has made of an episode or a trace."""

    def __init__(self, tree: dict[str, Any], run: Run, place: Place, identity: Any, *, has_run: bool) -> None:
        """Args: the tree, the run, where it stands, its id, whether it would have a run if it had been given one."""
        self.id = identity
        self.objects: dict[str, Any] = {}
        self.fields = list(tree)
        self.lengths = {name: len(tree[name]) for name in GROWING if type(tree.get(name)) is list}
        self._tree, self._run, self._place = tree, run, place
        if has_run and RUN not in tree:
            before = [position for position, name in enumerate(self.fields) if name in _BEFORE_RUN]
            self.fields.insert(max(before, default=-1) + 1, RUN)

    def values(self, unchanged: Container[str]) -> Generator[None, None, dict[str, Pieces]]:
        """The value of each field that is no growing list; none is known to be unchanged."""
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


def _inside(steps: Steps, run: Run, labels: tuple[Label, ...], start: int) -> Generator[None, None, Pieces]:
    """What stands inside of the brackets that some steps write."""
    yield from drive(steps, labels, start)
    pieces = run.out[1:-1]
    run.out.clear()
    return pieces
