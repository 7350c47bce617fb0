"""Which dataclasses are read attribute by attribute."""

import datetime
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar

import pydantic.dataclasses
import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field, create_model

from encoder.attributes import attributes_of
from encoder.plan import plan_of
from encoder.schema import Schemas, root_schema
from encoder.shapes import AttributesShape
from tests.encoder.odd_dataclasses import Clash, Extra, Lazy, Told, Whole


@dataclass
class Plain:
    a: int = 1
    start: InitVar[int] = 1
    count: ClassVar[int] = 2
    b: str = "b"


@dataclass(slots=True, frozen=True, kw_only=True)
class Slotted:
    a: int = 1


@pydantic.dataclasses.dataclass(config=ConfigDict(serialize_by_alias=True))
class Aliased:
    a: int = Field(1, serialization_alias="A")
    b: int = Field(1, exclude=True)


@dataclass
class Dated:
    at: datetime.datetime = datetime.datetime(2030, 1, 1)


@pydantic.dataclasses.dataclass
class Computed:
    a: int = 1

    @computed_field
    def b(self) -> int:
        return self.a


@dataclass
class Counted:
    a: int = 1

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


@dataclass
class Meter:
    a: int = 1


Meter.a = property(lambda self: 1, lambda self, value: None)  # type: ignore[assignment]


class Deleted:
    def __get__(self, instance: object, owner: type) -> Any:
        return 1

    def __delete__(self, instance: object) -> None:
        pass


@dataclass
class Guarded:
    a: int = 1


Guarded.a = Deleted()  # type: ignore[assignment]


@dataclass
class Called:
    a: Any = len
    b: Any = lambda: 1


class Model(BaseModel):
    a: int = 1


def shape_of(cls: Any) -> AttributesShape | None:
    root = create_model("Holder", one=(cls, ...))
    schema = root_schema(root)
    assert schema is not None
    schemas = Schemas(root, schema)
    fields = schemas.shape(schemas.resolve(schema))
    assert fields is not None
    return attributes_of(schemas, schemas.resolve(fields.fields[0].schema))


@pytest.mark.parametrize(
    ("cls", "aliases"), [(Plain, {"a": "a", "b": "b"}), (Slotted, {"a": "a"}), (Aliased, {"a": "A", "b": "b"})]
)
def test_attributes_are_told_in_their_order(cls: Any, aliases: dict[str, str]) -> None:
    shape = shape_of(cls)
    assert shape is not None
    assert shape.cls is cls
    assert list({field.name: field.alias for field in shape.fields}.items()) == list(aliases.items())


def test_what_is_left_out_and_aliases_that_are_asked_for() -> None:
    shape = shape_of(Aliased)
    assert shape is not None
    assert [field.excluded for field in shape.fields] == [False, True]
    assert shape.by_alias


@pytest.mark.parametrize("cls", [Whole, Computed, Extra, Clash, Counted, Lazy, Meter, Guarded, Called, Model, int])
def test_where_more_has_a_say_nothing_is_told(cls: Any) -> None:
    assert shape_of(cls) is None


@pytest.mark.parametrize(("cls", "is_left"), [(Plain, False), (Slotted, False), (Dated, True), (Told, True)])
def test_one_with_a_field_that_only_pydantic_knows_is_left_to_it(cls: Any, is_left: bool) -> None:
    plan: Any = plan_of(create_model("Holder", one=(cls, ...)))
    assert plan.plan.fields["one"].writer.is_left() is is_left
