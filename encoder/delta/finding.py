"""Find the sources of a record: by its plan where that is enough, else in what pydantic dumps at once."""

from collections.abc import Generator, Mapping
from typing import Any

from encoder.delta.layouts import ALL, is_for_each
from encoder.delta.ledger import RUN, TRACES
from encoder.delta.sources import Dumped, Layouts, Place, Planned, Source
from encoder.errors import DeltaStateError
from encoder.filters import Unclear
from encoder.plan import plan_of
from encoder.records import Episode
from encoder.splicer import drive, dump_whole
from encoder.writers.base import Run, Steps
from encoder.writers.lists import ListWriter
from encoder.writers.models import ModelWriter

# An episode's, or a lone trace's, and those of its traces: None where it has none.
Sources = tuple[Source, list[Source] | None]


def sources_of(model: Any, run: Run, exclude: Any, layouts: Layouts) -> Generator[None, None, Sources]:
    """The sources of a record.

    Args:
        model: an episode or a trace that nobody changes.
        run: the state of this encoding.
        exclude: what is left out, as `model_dump` takes it.
        layouts: those that were made before, under the same arguments; new ones are added.

    Raises:
        EncodeError: pydantic cannot dump it.
        DeltaStateError: it is not written as an object.
    """
    try:
        return (yield from _planned(model, run, exclude, layouts))
    except Unclear:
        return (yield from _dumped(model, run, exclude))


def _planned(model: Any, run: Run, exclude: Any, layouts: Layouts) -> Generator[None, None, Sources]:
    is_episode = isinstance(model, Episode)
    plan = plan_of(type(model))
    if not isinstance(plan, ModelWriter):
        raise Unclear
    root = Planned(model, plan, run, exclude, Place(has_traces=is_episode), layouts)
    if root.traces is None:
        return root, None
    writer, traces, (spec,) = plan.plan.fields[TRACES].writer, model.__dict__[TRACES], root.traces
    item = writer.children()[0] if isinstance(writer, ListWriter) else None
    inner = None if spec is None else spec.get(ALL) if is_for_each(spec) else ...
    if type(traces) is not list or not isinstance(item, ModelWriter) or inner is ... or inner is True:
        raise Unclear
    sources: list[Source] = []
    for position, trace in enumerate(traces):
        sources.append(Planned(trace, item, run, inner, Place(2, (TRACES, position)), layouts))
        yield
    return root, sources


def _dumped(model: Any, run: Run, exclude: Any) -> Generator[None, None, Sources]:
    trees: list[Any] = []

    def dump() -> Steps:
        trees.append(dump_whole(model, {**run.arguments, "exclude": exclude}))
        yield None

    yield from drive(dump())
    tree = trees[0]
    if not isinstance(tree, dict):
        raise DeltaStateError(f"{type(model).__name__} is not written as an object, so it has no parts to stream")
    traces = tree.get(TRACES)
    identity, has_run = model.id, not _leaves_out(exclude, RUN)
    if not isinstance(model, Episode) or type(traces) is not list or not all(type(trace) is dict for trace in traces):
        return Dumped(tree, run, Place(), identity, has_run=has_run), None
    specs = exclude.get(TRACES) if isinstance(exclude, Mapping) else None
    sources: list[Source] = []
    for trace, (index, inner) in zip(traces, _written(specs, len(model.traces), len(traces)), strict=True):
        place, known = Place(2, (TRACES, index)), getattr(model.traces[index], "id", None)
        sources.append(Dumped(trace, run, place, known, has_run=not any(_leaves_out(spec, RUN) for spec in inner)))
    return Dumped(tree, run, Place(has_traces=True), identity, has_run=has_run), sources


def _leaves_out(spec: Any, name: str) -> bool:
    """Whether a specification leaves a field out; of an odd one it is taken for granted that it does not."""
    if isinstance(spec, set | frozenset):
        return name in spec
    return isinstance(spec, Mapping) and (spec.get(name) is True or spec.get(name) is ...)


def _written(specs: Any, length: int, num_written: int) -> list[tuple[int, list[Any]]]:
    """Which of an episode's traces are written under a specification, and what is left out inside of each."""
    of_each = {index: _of_item(specs, index, length) for index in range(length)}
    found = [(index, inner) for index, inner in of_each.items() if ... not in inner]
    return found if len(found) == num_written else [(index, []) for index in range(num_written)]


def _of_item(specs: Any, index: int, length: int) -> list[Any]:
    """What is said of one item of a list; indices count modulo its length, and the last one counts."""
    said: dict[Any, Any] = dict.fromkeys(specs, ...) if isinstance(specs, set | frozenset) else {}
    if isinstance(specs, Mapping):
        said = {key: ... if inner is True else inner for key, inner in specs.items()}
    meant = [inner for key, inner in said.items() if isinstance(key, int) and key % length == index]
    return [*([said[ALL]] if ALL in said else []), *meant[-1:]]
