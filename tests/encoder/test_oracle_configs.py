"""Whose configuration counts, where models of different ones meet (family 11)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import dataclasses
import datetime as dt
import itertools
from typing import Annotated, Any, NamedTuple

import pydantic.dataclasses
import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, SerializeAsAny, computed_field, create_model
from typing_extensions import TypedDict

from tests.encoder import zoo
from tests.encoder.oracle import assert_same
from tests.naming import stable_id

CONFIGS: list[dict[str, Any]] = [
    {},
    {"ser_json_bytes": "hex"},
    {"ser_json_bytes": "base64", "ser_json_timedelta": "float"},
    {"ser_json_bytes": "utf8"},
    {"serialize_by_alias": True},
    {"serialize_by_alias": True, "extra": "allow", "ser_json_timedelta": "float"},
    {"ser_json_inf_nan": "strings"},
    {"ser_json_inf_nan": "constants", "use_enum_values": True},
]
DELTA, BLOB = dt.timedelta(1, 2, 3), b"\xfb\xff"


class Dict(TypedDict):
    y: Annotated[int, Field(alias="Y")]
    b: Any


class Named(NamedTuple):
    b: bytes = b"ok"
    any: Any = DELTA


@dataclasses.dataclass
class Plain:
    y: Annotated[int, Field(alias="Y")] = 1
    b: Any = DELTA
    t: dt.timedelta = DELTA


@pydantic.dataclasses.dataclass(config=ConfigDict(ser_json_timedelta="float", serialize_by_alias=True))
class Configured:
    y: int = Field(1, alias="Y")
    b: Any = DELTA
    t: dt.timedelta = DELTA


def child_of(config: dict[str, Any]) -> type[BaseModel]:
    class Child(BaseModel):
        model_config = ConfigDict(**config)
        y: int = Field(1, alias="Y")
        b: bytes = b"ok"
        t: dt.timedelta = DELTA
        f: float = float("nan")
        any: Any = DELTA
        wrong: list[int] = []
        wrong_b: int | str = 0
        lb: list[bytes] = [b"ok"]
        d: dict[bytes, bytes] = {b"k": b"v"}
        typed: Dict = {"y": 1, "b": DELTA}
        typeds: list[Dict] = [{"y": 1, "b": DELTA}]
        named: Named = Named()
        nameds: dict[str, Named] = {"k": Named()}

        @computed_field
        @property
        def c(self) -> Any:
            return [DELTA, {"k": DELTA}]

        @computed_field
        @property
        def ct(self) -> list[Dict]:
            return [{"y": 2, "b": DELTA}]

    return Child


def parent_of(config: dict[str, Any], child: type[BaseModel]) -> type[BaseModel]:
    class Parent(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True, **config)
        one: child
        many: list[child] = []
        named: dict[str, child] = {}
        maybe: child | None = None
        union: child | list[child] | int = 0
        dynamic: SerializeAsAny[child] | None = None
        any: Any = None
        typed: Dict = {"y": 1, "b": DELTA}
        typeds: list[Dict] = [{"y": 1, "b": DELTA}]
        plain: Plain = Plain()
        plains: list[Plain] = [Plain()]
        configured: Configured = Configured()
        tuple_: tuple[child, Dict] | None = None
        boxed: RootModel[child] | None = None
        late: dict[str, Any] = {"k": DELTA}

        @computed_field
        @property
        def c(self) -> list[child]:
            return [self.one]

        @computed_field(alias="Calc")
        @property
        def d(self) -> Any:
            return [self.one, DELTA, Plain()]

        @computed_field
        @property
        def e(self) -> list[Dict]:
            return [{"y": 5, "b": DELTA}]

    return Parent


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(CONFIGS, CONFIGS)), ids=stable_id)
def test_a_child_of_another_configuration(outer: dict[str, Any], inner: dict[str, Any]) -> None:
    child = child_of(inner)
    parent = parent_of(outer, child)
    blobs = child.model_construct(any=BLOB, wrong=[BLOB, DELTA], wrong_b=BLOB, lb=[BLOB], b=BLOB)
    inferred = child.model_construct(wrong=(DELTA, b"ok"), wrong_b=DELTA)
    for one in (child(), inferred, blobs):
        full = {
            "one": one, "many": [one, child()], "named": {"k": one}, "maybe": one, "union": [one],
            "dynamic": one, "any": {"k": [one, Plain(), Configured(), DELTA]},
            "tuple_": (one, {"y": 1, "b": one}), "boxed": RootModel[child].model_construct(one),
        }  # fmt: skip
        for kwargs in ({}, {"by_alias": True}, {"by_alias": False}, {"exclude": {"many": {0: {"y"}}}}):
            assert_same(parent.model_construct(**full), **kwargs)
        for name, value in full.items():
            assert_same(parent.model_construct(**{"one": child(), name: value}))
        assert_same(zoo.AnyRoot([parent.model_construct(**full)]))
        assert_same(RootModel[list[parent]].model_construct([parent.model_construct(**full)]))


@pytest.mark.parametrize("by_alias", [None, True, False])
def test_aliases_by_configuration(by_alias: bool | None) -> None:
    for outer, inner in itertools.product((zoo.Aliased, zoo.ByAlias), repeat=2):
        cls = create_model(
            "Pair", __base__=outer, x=(inner, ...), xs=(list[inner], []), any=(Any, None), d=(dict[str, inner], {})
        )
        model = cls.model_construct(x=inner(), xs=[inner(), outer()], any=[inner(), outer()], d={"k": inner()})
        assert_same(model, by_alias=by_alias)
        assert_same(zoo.AnyRoot({"k": model}), by_alias=by_alias)


def test_classes_that_are_built_late() -> None:
    class Late(BaseModel):
        model_config = ConfigDict(defer_build=True)
        a: int = 1
        b: zoo.Leaf = zoo.Leaf()

    class Holder(BaseModel):
        a: Late
        b: list[Late] = []

    assert_same(Late.model_construct())
    assert_same(Holder.model_construct(a=Late.model_construct(), b=[Late.model_construct(a=2)]))
    assert_same(Late())
    assert_same(Holder(a=Late(), b=[Late()]))


def test_classes_with_names_that_come_later() -> None:
    class Early(BaseModel):
        a: "list[Later]"

    assert_same(lambda: Early.model_construct(a=[]))

    class Later(BaseModel):
        b: int = 1

    Early.model_rebuild(_types_namespace={"Later": Later})
    assert_same(Early(a=[Later(), Later()]))


def test_classes_that_are_rebuilt() -> None:
    class Changing(BaseModel):
        a: int = 1

    assert_same(Changing())
    Changing.model_fields["a"].serialization_alias = "A"
    Changing.model_rebuild(force=True)
    assert_same(Changing(), by_alias=True)


def test_overridden_dumps() -> None:
    class Own(BaseModel):
        a: int = 1

        def model_dump(self, **kwargs: Any) -> dict[str, Any]:
            return {"own": super().model_dump(**kwargs)}

    class Holder(BaseModel):
        own: Own
        owns: list[Own]

    assert_same(Own())
    assert_same(Holder(own=Own(), owns=[Own()]))
    assert_same(zoo.AnyRoot([Own()]))
