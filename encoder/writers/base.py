"""What every writer shares: the two ways to write a value, and the state of one encoding.

A *writer* is made once per place in a class's schema and knows how to write the values that may stand there:

- `simple(value, run)` gives an object of bounded size that `orjson.dumps` writes exactly as the oracle writes the
  value. Neighbours that are simple are gathered and written by one call. `HEAVY` says that the value is too large for
  that, `UNKNOWN` that this writer cannot vouch for it.
- `steps(value, ...)` gives a generator that writes a value of any size in short steps, or None where this writer cannot
  vouch for the value.

What no writer vouches for is dumped by pydantic, for that value alone.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final

from encoder.blocks import Block
from encoder.columns import float_decimals
from encoder.compiled import IS_COMPILED
from encoder.native_blocks import NativeBlock
from encoder.paths import PATHS
from encoder.plain_blocks import PlainBlock
from encoder.schema import Serializer

if TYPE_CHECKING:
    from encoder._native import Node

# A position inside a record: an object's key or an array's index.
Label = str | int

# What of a run decides which keys are written: exclude_none and by_alias.
Variant = tuple[bool, bool | None]

# A generator that appends to `Run.out`. It yields None after each short step, and (label, steps) to have the steps of
# a value inside of it run first.
Steps = Generator["tuple[Label, Steps] | None", None, None]

# Gives a serializer of pydantic's; made when it is first needed.
LazySerializer = Callable[[], Serializer]


class Verdict(Enum):
    """Why a value has no simple form."""

    HEAVY = "too large for one call"
    UNKNOWN = "not what the type declares"


HEAVY: Final = Verdict.HEAVY
UNKNOWN: Final = Verdict.UNKNOWN

# Weight stands for time: a byte of JSON weighs 1, and what Python does to a value weighs 200 a microsecond. orjson
# writes text at 1 to 6 GB/s where nothing is escaped and at 0.3 GB/s where everything is, ints at 1 GB/s; so this much
# is an eighth of a millisecond, and on a slow machine a quarter, which is what may pass without a moment to give way.
MAX_WEIGHT: Final = 24 * 1024

# Measured: a container is looked through in 0.6 microseconds and a bit for each of its scalars; a field of a compiled
# model takes 0.2, and to hold a value until it is written 0.3.
CONTAINER_WEIGHT: Final = 128
SCALAR_WEIGHT: Final = 16
FIELD_WEIGHT: Final = 48
HOLDING_WEIGHT: Final = 64

# Characters of one slice of a long text: a quarter of a millisecond when all of them are escaped.
TEXT_SLICE: Final = 16 * 1024

# Keys of a dict that are looked at in one step: some 20 to 100 microseconds.
KEYS_AT_ONCE: Final = 1024

# orjson writes 254 containers inside each other, in a whole document.
MAX_DEPTH: Final = 254

# Simple values hold no more containers inside each other than this; a class that holds itself may add as many, and so
# may a model under `Any`.
SIMPLE_DEPTH: Final = 50


# What values may weigh that are left to pydantic together, and what one instance may weigh for each field that only
# pydantic knows, and one besides: to take it apart would cost some ten microseconds for each of these.
LEFT_WEIGHT: Final = 2 * MAX_WEIGHT
LEFT_FIELD_WEIGHT: Final = 2048


class Unwritable(Exception):  # noqa: N818 - carries the real error to where the path is known
    """A value failed; `tail` is its position below the step that wrote it."""

    def __init__(self, tail: tuple[Label, ...]) -> None:
        super().__init__(tail)
        self.tail = tail


class TooDeepError(ValueError):
    """More containers inside each other than JSON can be written with."""

    def __init__(self) -> None:
        super().__init__(f"more than {MAX_DEPTH} containers inside each other (recursion limit reached)")


class CircularError(ValueError):
    """A model or a container holds itself; said in pydantic's words."""

    def __init__(self) -> None:
        super().__init__("Circular reference detected (id repeated)")


@dataclass(slots=True)
class Run:
    """The state of encoding one record.

    Attributes:
        arguments: what is passed on to pydantic wherever it dumps a part, `include` and `exclude` aside.
        out: the bytes written since the last piece was taken.
        weight: the weight of the simple values gathered since the last call of orjson.
        active: ids of the models and containers being written in steps, to find one that holds itself.
        lengths: how many items are written of the lists of the model that counts what is in them, by their ids.
        memo: what costly computed fields share within one record.
        block: the columns of the simple values that are held.
        level: how many models of classes that can hold themselves the simple form that is being made is inside of.
        under_any: whether the simple form of a model under `Any` is being made.
        is_native: whether the compiled part may write rows of items.
    """

    arguments: Mapping[str, Any]
    out: list[bytes] = field(default_factory=list)
    weight: int = 0
    active: set[int] = field(default_factory=set)
    lengths: dict[int, int] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict)
    exclude_none: bool = False
    exclude_unset: bool = False
    computed: bool = True
    by_alias: bool | None = None
    variant: Variant = (False, None)
    is_native: bool = False
    context: Any = None
    block: Block = field(init=False)
    under_any: bool = False
    level: int = 0
    _counted: int = 0
    _size: int = 0

    def length_of(self, items: list[Any]) -> int:
        """How many items of a list are written; later ones were appended meanwhile."""
        return self.lengths.get(id(items), len(items))

    def enter(self, value: object, depth: int) -> None:
        """Begin to write a model or a container in steps; `leave` it afterwards.

        Raises:
            TooDeepError: `depth` containers are around it, as many as there may be.
            CircularError: it is one of these.
        """
        if id(value) in self.active:
            raise CircularError
        if depth >= MAX_DEPTH:
            raise TooDeepError
        self.active.add(id(value))

    def leave(self, value: object) -> None:
        """The model or container has been written."""
        self.active.discard(id(value))

    def size(self) -> int:
        """Bytes in `out`."""
        if self._counted < len(self.out):
            self._size += sum(map(len, self.out[self._counted :]))
            self._counted = len(self.out)
        return self._size

    def take(self) -> bytes:
        """Take out what has been written, as one piece."""
        piece = b"".join(self.out)
        self.out.clear()
        self._counted = self._size = 0
        return piece

    def __post_init__(self) -> None:
        self.exclude_none = bool(self.arguments.get("exclude_none", False))
        self.exclude_unset = bool(self.arguments.get("exclude_unset", False))
        self.computed = not self.arguments.get("exclude_computed_fields", False)
        self.by_alias = self.arguments.get("by_alias")
        self.variant = (self.exclude_none, self.by_alias)
        self.context = self.arguments.get("context")
        self.is_native = IS_COMPILED and PATHS.compiled and not self.exclude_unset
        kind = NativeBlock if self.is_native else Block if PATHS.joined_columns else PlainBlock
        self.block = kind(float_decimals(self.context))


class Writer:
    """Writes the values of one place in a schema; this one vouches for nothing."""

    __slots__ = ()

    # Containers inside each other that a simple value may have, those of its children aside.
    depth: ClassVar[int] = 0

    def children(self) -> tuple["Writer", ...]:
        """The writers of what stands directly inside of a value."""
        return ()

    def inside(self, value: Any) -> "Iterable[tuple[Writer, Any]] | None":
        """The values directly inside that may hold a model, each with its writer; None if the value lacks a field."""
        return ()

    def least_weight(self) -> int:
        """What the simple form of any value weighs at least."""
        return 0

    def is_left(self) -> bool:
        """Whether values, or parts of each, are left to pydantic."""
        return type(self) is Writer

    def most_left(self) -> int:
        """What a value may weigh that is left to pydantic as a whole, as parts of it must be; 0 where none must."""
        return LEFT_WEIGHT if self.is_left() else 0

    def simple(self, value: Any, run: Run) -> Any:
        """An object that orjson writes as the oracle writes the value, or HEAVY or UNKNOWN."""
        return UNKNOWN

    def simple_in(self, run: Run) -> Callable[[Any, Run], Any]:
        """What gives the simple forms of many values in one run: `simple`, or something faster that does the same."""
        return self.simple

    def node(self, variant: Variant) -> "Node | None":
        """What the compiled part is told of the values; None where it could write none of them.

        A node may know less than its writer, but nothing else: what has no text by it is left to the writer.
        """
        return None

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """The steps that write the value inside `depth` containers; None where this writer cannot vouch for it."""
        return None
