"""One class of every species pydantic can serialize, for explicit examples and as parts of generated models."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import dataclasses
import enum
import re
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar

import pydantic.dataclasses
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    Tag,
    computed_field,
    field_serializer,
    model_serializer,
)
from typing_extensions import TypedDict

from tests.encoder.seen import facts

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    SEVEN = 7
    NOTHING = None
    PAIR = (1, 2)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2**53 + 1


class Word(enum.StrEnum):
    YES = "yes"
    QUOTE = 'q"\n'


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


class Leaf(BaseModel):
    a: int = 1
    b: str | None = None


class LeafChild(Leaf):
    z: int = 9
    b: Any = "child"


class Seen(BaseModel):
    """Shows what its serializers saw."""

    a: int = 1
    b: Any = None
    c: dict[str, Any] = {}

    @field_serializer("b")
    def _b(self, value: Any, info: Any) -> Any:
        return [facts(info), type(self).__name__]

    @field_serializer("c", mode="wrap")
    def _c(self, value: Any, handler: SerializerFunctionWrapHandler, info: Any) -> Any:
        return {"value": handler(value), **facts(info)}


class SeenChild(Seen):
    z: int = 2


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    a: int = 1


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    a: float = 1.0
    b: "list[Cat | Dog]" = []


class DogChild(Dog):
    z: int = 3


def species(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) else None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
CalledPet = Annotated[Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(species)]


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1
    b: Leaf | None = None


class TypedLoose(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    a: int = 1


class Aliased(BaseModel):
    a: int = Field(1, alias="A")
    b: Leaf = Field(Leaf(), serialization_alias='we "ird"\n\u00e9\u2028')
    c: int = Field(3, validation_alias="only in")


class ByAlias(Aliased):
    model_config = ConfigDict(serialize_by_alias=True)


class Hexed(BaseModel):
    model_config = ConfigDict(ser_json_bytes="hex", ser_json_timedelta="float", ser_json_inf_nan="strings")
    a: bytes = b"\xff\x00"
    b: Any = None
    c: list[float] = []


class Computed(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1
    b: int | None = None

    @computed_field
    @property
    def c(self) -> Leaf:
        return LeafChild(a=self.a)

    @computed_field(alias="a")
    @property
    def d(self) -> int:
        return self.a + 100

    @computed_field
    @property
    def e(self) -> int | None:
        return self.b

    @computed_field(alias="Eff")
    @property
    def f(self) -> Any:
        return [self.b, LeafChild()]


class Hidden(BaseModel):
    a: int = Field(1, exclude=True)
    b: int | None = Field(None, exclude_if=lambda value: value is None)
    c: list[int] = Field([], exclude_if=lambda value: not value)
    d: Leaf = Leaf()


class PlainModel(BaseModel):
    a: int = 1
    b: Any = None

    @model_serializer(mode="plain")
    def _ser(self, info: SerializationInfo) -> Any:
        return {"a": self.a, "b": self.b, "info": facts(info)}


class WrapModel(BaseModel):
    a: int = 1
    b: Leaf | None = None

    @model_serializer(mode="wrap")
    def _ser(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        return {**handler(self), "info": facts(info)}


class TextModel(BaseModel):
    a: int = 1

    @model_serializer
    def _ser(self) -> str:
        return f"text {self.a}"


class Tree(BaseModel):
    a: Any = None
    kids: "list[Tree]" = []
    named: "dict[str, Tree]" = {}
    next: "Tree | None" = None


class Box(BaseModel, Generic[T]):
    a: T
    b: list[T] = []


class IntList(RootModel[list[int]]): ...


class AnyRoot(RootModel[Any]): ...


class LeafMap(RootModel[dict[str, Leaf]]): ...


class MaybeRoot(RootModel[int | None]): ...


@dataclasses.dataclass
class Point:
    a: int = 1
    b: Any = None


@dataclasses.dataclass
class PointChild(Point):
    z: int = 2


@pydantic.dataclasses.dataclass
class Rich:
    a: int = Field(1, alias="A")
    b: bytes | None = None
    c: list[Leaf] = Field(default_factory=list)

    @computed_field
    @property
    def d(self) -> int:
        return self.a + 1


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int = 1
    b: float | None = None


class Pair(NamedTuple):
    a: int = 1
    b: Any = "b"


class Entry(TypedDict):
    a: int
    b: NotRequired[Leaf | None]
    c: NotRequired[Annotated[int, Field(alias="C")]]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    a: int = 1
    b: tuple[int, ...] = ()


class SubInt(int): ...


class SubFloat(float): ...


class SubStr(str):
    __slots__ = ()


class SubDict(dict): ...


class SubList(list): ...


PATTERN = re.compile("a+")
FALLBACKS: tuple[Callable[[Any], Any], ...] = (
    lambda value: "fallback",
    lambda value: [type(value).__name__, {"k": 1}],
    lambda value: None,
)
