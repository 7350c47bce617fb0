"""Values under `Any`: JSON's own types as they stand, models by their own plan, others by what pydantic infers."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from encoder.compiled import native
from encoder.schema import Serializer, is_model
from encoder.writers.base import HEAVY, MAX_WEIGHT, SCALAR_WEIGHT, UNKNOWN, Run, Steps, Variant, Writer
from encoder.writers.calls import SHALLOW, dumped
from encoder.writers.trees import WALKED, write_tree
from encoder.writers.weights import SCALARS, weigh

if TYPE_CHECKING:
    from encoder._native import Node


class AnyWriter(Writer):
    """Writes what stands under `Any`, or what an `extra="allow"` model was given besides its fields."""

    __slots__ = ("_plan_of", "_room", "_serializer")

    depth = 32

    def __init__(
        self, serializer: Serializer, plan_of: Callable[[type], Writer | None], *, simple: bool = True
    ) -> None:
        """Args: what infers how to write a value that nothing else is known of, what knows a model's class.

        Where nothing is `simple`, all that is not empty is written in steps.

        A model that is reached through `Any` is written as it would be by itself: by its own class and settings.
        """
        self._serializer = serializer
        self._plan_of = plan_of
        self._room = MAX_WEIGHT if simple else 0

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """What is inside of a model; containers may be huge, and rarely hold models."""
        plan = self._plan(value)
        return () if plan is None else plan.inside(value)

    def _plan(self, value: Any) -> Writer | None:
        return self._plan_of(type(value)) if is_model(value) else None

    def simple(self, value: Any, run: Run) -> Any:
        """The tree itself where all of it is of JSON's own types, and small; the simple form of a model."""
        if type(value) in SCALARS:
            run.weight += SCALAR_WEIGHT
            return value
        room = weigh(value, self._room, strict=True)
        if room >= 0:
            run.weight += self._room - room
            return value
        if type(value) in WALKED or type(value) is str:
            return HEAVY
        plan = self._plan(value)
        if plan is None:
            return UNKNOWN
        if run.under_any or run.level:
            return HEAVY  # or the depth of a simple value would have no bound
        run.under_any = True
        try:
            return plan.simple(value, run)
        finally:
            run.under_any = False

    def node(self, variant: Variant) -> "Node | None":
        """Values of JSON's own types."""
        return native.anything()

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Walk the tree; a part of it that nothing is known of is dumped by pydantic, by itself."""
        return self.steps_inside(value, run, include, exclude, depth, _Inferred(self, self._serializer, depth))

    def steps_inside(
        self, value: Any, run: Run, include: Any, exclude: Any, depth: int, inferred: "_Inferred"
    ) -> Steps | None:
        """The same for a value inside of another one."""
        plan = self._plan(value)
        if plan is not None:
            return plan.steps(value, run, include, exclude, depth)
        if include is not None or exclude is not None or not (type(value) in WALKED or type(value) is str):
            return None
        return write_tree(value, run, depth, inferred)


class _Inferred:
    """What is done with values inside of one that stands under `Any`, and that are none of JSON's own types."""

    __slots__ = ("_around", "_serializer", "_writer")

    def __init__(self, writer: AnyWriter, serializer: Serializer, around: int) -> None:
        """Args: the writer of the outermost, what infers how to write one, the containers around the outermost."""
        self._writer = writer
        self._serializer = serializer
        self._around = around

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """The steps that write one, if there are any."""
        return self._writer.steps_inside(value, run, include, exclude, depth, self)

    def tree(self, value: Any, run: Run, depth: int) -> Any:
        """What pydantic makes of a value inside of `depth` containers by inference."""
        levels = depth - self._around
        if levels <= SHALLOW:
            return dumped(self._serializer, value, run)
        # Counting is left to pydantic, for which an enum is a level, too.
        wrapped = value
        for _ in range(levels):
            wrapped = [wrapped]
        tree = dumped(self._serializer, wrapped, run, suspect=value)
        for _ in range(levels):
            (tree,) = tree
        return tree
