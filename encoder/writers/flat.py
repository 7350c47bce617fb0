"""Compile a model class into one flat function that gives its simple form.

The function takes the instance's `__dict__` apart in one go, checks each value's exact type, and builds the dict that
orjson writes; a value that is not what the field declares, or too large, makes it give up. It is made from source text
whose names are all numbers: field names, classes and functions reach it as bound constants.

Columns are not put into the dict but held in the run's `Block`, with a mark in their place.
"""

from typing import Any, Final

import numpy as np

from encoder.blocks import JOINABLE, MARK
from encoder.columns import ColumnKind
from encoder.schema import extras_of
from encoder.stepwise import finish
from encoder.writers.base import FIELD_WEIGHT, HEAVY, MAX_WEIGHT, TEXT_SLICE, UNKNOWN, Run, Variant, Verdict, Writer
from encoder.writers.columns import COLUMN_WEIGHTS, SMALL_COLUMN, ColumnWriter
from encoder.writers.fields import FieldPlan
from encoder.writers.lists import ListWriter
from encoder.writers.models import Flat, ModelWriter
from encoder.writers.scalars import LiteralWriter, ScalarWriter, TextWriter, copied
from encoder.writers.snapshots import lengths_of
from encoder.writers.unions import TaggedWriter

# What a hook adds: it looks at what is small, but at all of it.
_HOOK_WEIGHT: Final = 2000

# The list of a `Block` that holds the columns of a kind.
_HELD: Final = {ColumnKind.INTS: "ints", ColumnKind.BOOLS: "bools", ColumnKind.FLOATS: "floats"}


class Source:
    """Source text of one function, and the constants that it names."""

    def __init__(self, name: str, variant: Variant) -> None:
        """Args: what a profile calls the function's file, and the variant that it is for."""
        self._name = name
        self.variant = variant
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {
            "HEAVY": HEAVY,
            "UNKNOWN": UNKNOWN,
            "MARK": MARK,
            "Verdict": Verdict,
            "ndarray": np.ndarray,
            "extras_of": extras_of,
            "finish": finish,
            "copied": copied,
            "EMPTY": [],
        }

    def bind(self, value: Any) -> str:
        """A name for a constant."""
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def add(self, indent: int, *lines: str) -> None:
        """Append lines."""
        self.lines += ["    " * indent + line for line in lines]

    def function(self) -> Flat:
        """The compiled function, which is called `flat`."""
        namespace = dict(self.constants)
        exec(compile("\n".join(self.lines), self._name, "exec"), namespace)  # noqa: S102 - no name of a user's is in it
        made: Flat = namespace["flat"]
        return made


def compile_flat(writer: ModelWriter, variant: Variant) -> Flat:
    """Make the function that gives the simple form of a class's instances.

    Args:
        writer: the class's writer, one of those whose instances may have a simple form.
        variant: what the run decides.
    """
    exclude_none = variant[0]
    aliased = writer.plan.by_alias if variant[1] is None else variant[1]
    fields = tuple(writer.plan.fields.values())
    source = Source(f"<flat {writer.plan.cls.__qualname__}>", variant)
    names = source.bind(tuple(plan.name for plan in fields))
    source.add(0, "def flat(model, run):")
    source.add(1, f"if type(model) is not {source.bind(writer.plan.cls)}: return UNKNOWN", "values = model.__dict__")
    source.add(1, f"if tuple(values) != {names}: return {source.bind(writer.slow)}(model, run)")
    if writer.plan.takes_extras:
        source.add(1, "extras = extras_of(model)")
    if fields:
        targets = "".join(f"v{index}, " for index in range(len(fields)))
        source.add(1, f"{targets.rstrip()} = values.values()")
    weight = FIELD_WEIGHT * len(fields) + (_HOOK_WEIGHT if writer.plan.computed else 0)
    source.add(1, "out = {}", f"weight = {weight}")
    if any(isinstance(plan.writer, ColumnWriter) for plan in fields):
        source.add(1, "block = run.block", "order = block.order")
    for index, plan in enumerate(fields):
        if not plan.excluded:
            _field(source, f"v{index}", plan, exclude_none, plan.alias if aliased else plan.name)
    source.add(1, f"if weight > {2 * MAX_WEIGHT}: return HEAVY", "run.weight += weight")
    if writer.plan.takes_extras:
        source.add(1, f"if extras != {{}} and not {source.bind(writer.add_extras)}(out, extras, run): return HEAVY")
    if writer.plan.computed:
        _computed(source, writer, exclude_none, aliased)
    source.add(1, "return out")
    return source.function() if writer.plan.hook is None else _of_one_moment(source.function(), writer.plan.cls)


def _of_one_moment(flat: Flat, cls: type) -> Flat:
    """The function, with the lists of the instance as long as they are when it is called."""

    def fixed(model: Any, run: Run) -> Any:
        if type(model) is not cls:
            return UNKNOWN
        values, around = tuple(model.__dict__.values()), run.lengths
        run.lengths = lengths_of(values)
        try:
            return flat(model, run)
        finally:
            run.lengths = around

    return fixed


def _computed(source: Source, writer: ModelWriter, exclude_none: bool, aliased: bool) -> None:
    """The computed fields, all of them by the hook; last, since they are worth something only if all else is simple."""
    plan = writer.plan
    source.add(1, "if run.computed:", f"    known = finish({source.bind(plan.hook)}(model, run.memo, run.length_of))")
    for index, field in enumerate(plan.computed):
        value = f"w{index}"
        source.add(2, f"if {source.bind(field.name)} not in known: return HEAVY")
        source.add(2, f"{value} = known[{source.bind(field.name)}]", f"if {value} is None:")
        put = f"out[{source.bind(field.alias if aliased else field.name)}] = "
        source.add(3, "pass" if exclude_none else f"{put}None" if field.nullable else "return HEAVY")
        source.add(2, "else:")
        _value(source, 3, value, field.writer, put)


def _field(source: Source, value: str, plan: FieldPlan, exclude_none: bool, key: str) -> None:
    """One field: left out, null, or checked and put into the dict."""
    put = f"out[{source.bind(key)}] = "
    keep, ask = "", []
    if plan.exclude_if is not None:
        ask = [
            f"said = {source.bind(plan.exclude_if)}({value})",
            "if said is not False and said is not True: return HEAVY",
        ]
        keep = "if said is False: "
    # Where only known texts are declared, None is looked at too: it may be the tag of a union that is none.
    if exclude_none and (plan.nullable or not isinstance(plan.writer, LiteralWriter) or plan.writer.texts is None):
        source.add(1, f"if {value} is not None:")
        source.add(2, *ask)
    elif plan.nullable:
        source.add(1, *ask, f"if {value} is None:", f"    {keep}{put}None", "else:")
    else:
        source.add(1, *ask, "if True:")
    if keep:
        source.add(2, keep.rstrip())
    _value(source, 3 if keep else 2, value, plan.writer, put)


def _value(source: Source, indent: int, value: str, writer: Writer, put: str) -> None:
    """Check a value that is not None against its declared type, and put it into the dict."""
    if isinstance(writer, ScalarWriter):
        source.add(indent, f"if type({value}) is not {source.bind(writer.exact)}: return HEAVY", f"{put}{value}")
    elif isinstance(writer, TextWriter):
        source.add(indent, f"if type({value}) is not str: return HEAVY", f"length = len({value})")
        source.add(indent, f"if length > {TEXT_SLICE}: return HEAVY", "weight += length")
        source.add(indent, f"{put}{value} if {value}.isascii() else copied({value})")
    elif isinstance(writer, LiteralWriter) and writer.texts is not None:
        known = source.bind(writer.texts)
        source.add(indent, f"if type({value}) is not str or {value} not in {known}: return HEAVY", f"{put}{value}")
    elif isinstance(writer, ColumnWriter):
        _column(source, indent, value, writer, put)
    elif isinstance(writer, ModelWriter):
        _call(source, indent, value, source.bind(_function_of(writer, source.variant)), put)
    elif isinstance(writer, TaggedWriter) and writer.told_by_literals():
        flats = {cls: _function_of(member, source.variant) for cls, (_, member) in writer.members.items()}
        source.add(indent, f"flat = {source.bind(flats)}.get(type({value}))", "if flat is None: return HEAVY")
        _call(source, indent, value, "flat", put)
    elif isinstance(writer, ListWriter):
        source.add(indent, f"if type({value}) is list and not {value}: {put}EMPTY", "else:")
        _simple(source, indent + 1, value, writer, put)
    else:
        _simple(source, indent, value, writer, put)


def _column(source: Source, indent: int, value: str, writer: ColumnWriter, put: str) -> None:
    """A column: held in the block, a mark in its place."""
    kind = writer.kind
    dtypes = [source.bind(dtype) for dtype in JOINABLE[kind]]
    known = " or ".join(f"dtype is {dtype}" for dtype in dtypes)
    source.add(indent, f"if type({value}) is not ndarray or {value}.ndim != 1: return HEAVY")
    source.add(indent, f"length = len({value})", f"dtype = {value}.dtype")
    source.add(indent, f"if length > {SMALL_COLUMN}: return HEAVY")
    source.add(indent, f"if not length: {put}EMPTY")
    source.add(indent, f"elif ({known}){' and block.takes_floats' if kind is ColumnKind.FLOATS else ''}:")
    source.add(indent + 1, f"order.append({int(kind)})", f"block.{_HELD[kind]}.append({value})")
    source.add(indent + 1, f"weight += {COLUMN_WEIGHTS[kind]} * length", f"{put}MARK")
    source.add(indent, "else:")
    _simple(source, indent + 1, value, writer, put)


def _simple(source: Source, indent: int, value: str, writer: Writer, put: str) -> None:
    """Whatever else: what its own writer says."""
    _call(source, indent, value, source.bind(writer.simple), put)


def _call(source: Source, indent: int, value: str, function: str, put: str) -> None:
    source.add(indent, f"simple = {function}({value}, run)", "if type(simple) is Verdict: return HEAVY", f"{put}simple")


def _function_of(writer: ModelWriter, variant: Variant) -> Flat:
    """What gives the simple form of a nested model: the compiled function itself, where nothing stands before it."""
    return writer.flat(variant) if writer.gathered and not writer.recursive else writer.simple
