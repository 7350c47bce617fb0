"""Which types are small whatever their values are."""

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, RootModel, field_serializer
from typing_extensions import TypedDict

from encoder.boundedness import is_bounded
from encoder.schema import Schemas, root_schema


class Color(enum.Enum):
    RED = "red"


class Small(BaseModel):
    number: int | None = None
    at: datetime.datetime = datetime.datetime(2030, 1, 1)
    color: Color = Color.RED


class Holding(BaseModel):
    small: Small = Small()
    pair: tuple[int, str] = (1, "a")
    kind: Literal["a", "b"] = "a"
    either: int | str = 1
    rounded: list[float] = []

    @field_serializer("rounded")
    def _rounded(self, value: list[float]) -> list[float]:
        return value


@dataclass
class Point:
    x: int
    y: float = 0.5


class Typed(TypedDict):
    x: int
    point: Point


@dataclass
class Points:
    points: list[Point]


class Listed(TypedDict):
    points: list[Point]


class Listing(BaseModel):
    small: Small = Small()
    numbers: list[int] = []


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class Tree(BaseModel):
    child: "Tree | None" = None


def bounded(type_: Any) -> bool:
    holder = RootModel[type_]
    schema = root_schema(holder)
    assert schema is not None
    schemas = Schemas(holder, schema)
    root = schemas.root_shape(schemas.resolve(schema))
    assert root is not None
    return is_bounded(schemas, root.schema)


@pytest.mark.parametrize(
    "type_",
    [
        int,
        str,
        datetime.timedelta,
        decimal.Decimal,
        uuid.UUID,
        AnyUrl,
        Color,
        int | None,
        Small,
        Holding,
        Point,
        Typed,
    ],
)
def test_small_whatever_their_values(type_: Any) -> None:
    assert bounded(type_)


@pytest.mark.parametrize(
    "type_",
    [
        Any,
        list[int],
        dict[str, int],
        tuple[int, ...],
        set[int],
        bytes,
        Listing,
        Loose,
        Tree,
        int | list[int],
        Points,
        Listed,
    ],
)
def test_any_size(type_: Any) -> None:
    assert not bounded(type_)


def test_a_serializer_of_the_users_is_one_call_whatever_it_is_given() -> None:
    class Model(BaseModel):
        anything: Any = Field(None)

        @field_serializer("anything")
        def _written(self, value: Any) -> str:
            return "x"

    assert bounded(Model)
