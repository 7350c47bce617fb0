"""Unions: taken only where the value's exact type leaves a single member that can have written it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from encoder.compiled import native
from encoder.schema import UNIONS_MIND_INCLUDE
from encoder.writers.base import HEAVY, UNKNOWN, LazySerializer, Run, Steps, Variant, Writer
from encoder.writers.calls import dumped
from encoder.writers.lists import ListWriter
from encoder.writers.models import ModelWriter
from encoder.writers.scalars import LiteralWriter, TextWriter
from encoder.writers.trees import write_tree
from encoder.writers.wholes import is_whole

if TYPE_CHECKING:
    from encoder._native import Node


class NullableWriter(Writer):
    """What may be None besides."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Writer) -> None:
        """Args: the writer of whatever is not None."""
        self._inner = inner

    def children(self) -> tuple[Writer, ...]:
        """The writer of whatever is not None."""
        return (self._inner,)

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """What is inside of the value, if there is one."""
        return () if value is None else self._inner.inside(value)

    def is_left(self) -> bool:
        """Whether that is, or parts of it."""
        return self._inner.is_left()

    def most_left(self) -> int:
        """As of whatever is not None."""
        return self._inner.most_left()

    def simple(self, value: Any, run: Run) -> Any:
        """None, or the inner simple form."""
        return None if value is None else self._inner.simple(value, run)

    def node(self, variant: Variant) -> "Node | None":
        """None, or the inner node's values."""
        inner = self._inner.node(variant)
        return None if inner is None else native.nullable(inner)

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """The inner steps."""
        return None if value is None else self._inner.steps(value, run, include, exclude, depth)


class UnionWriter(Writer):
    """A union whose members have different exact types.

    Pydantic tries the members in turn, so a value that only partly fits the one that its type points to may be
    written by another: values are taken that are simple, all of them exactly as declared, text of any length, and lists
    once each of their items has been seen to be simple.
    """

    __slots__ = ("_members", "_serializer")

    def __init__(self, members: Mapping[type, Writer], serializer: LazySerializer) -> None:
        """Args: the member for each exact type, and pydantic's serializer of the union."""
        self._members = dict(members)
        self._serializer = serializer

    def children(self) -> tuple[Writer, ...]:
        """The members' writers."""
        return tuple(self._members.values())

    def simple(self, value: Any, run: Run) -> Any:
        """The simple form that the value's own member gives."""
        member = self._members.get(type(value))
        if member is None:
            return UNKNOWN
        written = member.simple(value, run)
        if written is HEAVY and isinstance(member, ListWriter):
            return HEAVY
        return written if written is not HEAVY or isinstance(member, TextWriter) else UNKNOWN

    def node(self, variant: Variant) -> "Node | None":
        """What the value's type tells."""
        return _choice(self._members, variant)

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Text of any length, and lists of simple items."""
        member = self._members.get(type(value))
        if include is not None or exclude is not None:
            return None
        if isinstance(member, ListWriter):
            return self._list_steps(member, value, run, depth)
        return member.steps(value, run, None, None, depth) if isinstance(member, TextWriter) else None

    def _list_steps(self, member: ListWriter, value: list[Any], run: Run, depth: int) -> Steps:
        """Write a list by its own writer if all items are simple, else whatever pydantic makes of it."""
        simple = yield from member.are_simple(value, run)
        steps = member.steps(value, run, None, None, depth) if simple else None
        yield from steps or write_tree(dumped(self._serializer(), value, run), run, depth)


class TaggedWriter(Writer):
    """A union of models told apart by the value of one field."""

    __slots__ = ("_discriminator", "_serializer", "members")

    def __init__(
        self, discriminator: str, members: Mapping[type, tuple[object, ModelWriter]], serializer: LazySerializer
    ) -> None:
        """Args: the field's name, for each class its tag and writer, and pydantic's serializer of the union."""
        self._discriminator = discriminator
        self._serializer = serializer
        self.members = dict(members)

    def children(self) -> tuple[Writer, ...]:
        """The members' writers."""
        return tuple(writer for _, writer in self.members.values())

    def told_by_literals(self) -> bool:
        """Whether every member declares its tag as the one value that its discriminating field may have.

        A field that is left out, or may be None, is not looked at where its instance is written.
        """
        for tag, writer in self.members.values():
            field = writer.plan.fields.get(self._discriminator)
            if field is None or field.excluded or field.exclude_if is not None or field.nullable:
                return False
            if not isinstance(field.writer, LiteralWriter) or field.writer.texts != frozenset({tag}):
                return False
        return True

    def _member(self, value: Any) -> ModelWriter | None:
        """The member's writer, where class and tag agree."""
        tag, writer = self.members.get(type(value), (None, None))
        return None if writer is None or value.__dict__.get(self._discriminator) != tag else writer

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """What is inside of it by its own class."""
        member = self._member(value)
        return () if member is None else member.inside(value)

    def is_left(self) -> bool:
        """Whether those of any member are."""
        return any(writer.is_left() for _, writer in self.members.values())

    def most_left(self) -> int:
        """As of the member of which it is the most."""
        return max(writer.most_left() for _, writer in self.members.values())

    def simple(self, value: Any, run: Run) -> Any:
        """The simple form that the value's own class gives."""
        member = self._member(value)
        return UNKNOWN if member is None else member.simple(value, run)

    def node(self, variant: Variant) -> "Node | None":
        """What the value's class tells, if its tag is the one that it declares."""
        members = {cls: writer for cls, (_, writer) in self.members.items()}
        return _choice(members, variant) if self.told_by_literals() else None

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """The steps that the value's own class gives, if it is whole."""
        member = self._member(value)
        if member is None or (UNIONS_MIND_INCLUDE and include is not None):
            return None
        return self._member_steps(member, value, run, include, exclude, depth)

    def _member_steps(self, member: ModelWriter, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps:
        whole = yield from is_whole(member, value)
        steps = member.steps(value, run, include, exclude, depth) if whole else None
        if steps is None:
            tree = dumped(self._serializer(), value, run, include=include, exclude=exclude)
            steps = write_tree(tree, run, depth)
        yield from steps


def _choice(members: Mapping[type, Writer], variant: Variant) -> "Node | None":
    """The node of what is told apart by its exact type."""
    nodes = {cls: node for cls, writer in members.items() if (node := writer.node(variant)) is not None}
    return native.choice(nodes) if nodes else None
