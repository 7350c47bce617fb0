"""The compiled simple form is the slow one, and gives up on whatever is not exactly as declared."""

from typing import Any, Literal

import numpy as np
import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from encoder.columns import BoolColumn, FloatColumn, IntColumn
from encoder.conditions import pure
from encoder.encode import to_json
from encoder.plan import plan_of
from encoder.writers.base import HEAVY, TEXT_SLICE, UNKNOWN, Run
from encoder.writers.calls import dumps
from encoder.writers.models import ModelWriter


class Part(BaseModel):
    kind: Literal["part", "piece"] = "part"
    text: str = ""


@pure
def is_empty(parts: list[Part]) -> bool:
    return not parts


class Node(BaseModel):
    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)

    parent: int | None = None
    score: float = 0.5
    flag: bool = False
    hidden: int = Field(default=1, exclude=True)
    parts: list[Part] = Field(default_factory=list, exclude_if=is_empty)
    part: Part = Part()
    other_name: str = Field(default="x", serialization_alias="otherName")
    ids: IntColumn = Field(default_factory=lambda: np.array([1, 2], dtype=np.int32))
    mask: BoolColumn = Field(default_factory=lambda: np.array([True, False]))
    floats: FloatColumn | None = None
    info: dict[str, Any] = {}


def plan() -> ModelWriter:
    found = plan_of(Node)
    assert isinstance(found, ModelWriter)
    return found


NODES = [
    Node(),
    Node(parent=3, parts=[Part(), Part(text="é")], floats=np.array([0.12345, -0.0, 2.5])),
    Node(ids=[], mask=[], floats=[], info={"a": [1, None, {"b": True}]}),
    Node(extra={"a": [1]}, another=None, third=Part(text="under Any")),
    Node(ids=np.array([2**40]), floats=np.array([np.nan, 1e300])),
]


@pytest.mark.parametrize("arguments", [{}, {"exclude_none": True}, {"by_alias": True}, {"by_alias": False}])
@pytest.mark.parametrize("node", NODES)
def test_the_compiled_form_is_the_slow_form_is_the_oracle(node: Node, arguments: dict[str, Any]) -> None:
    expected = orjson.dumps(node.model_dump(mode="json", **arguments))
    run = Run(arguments)
    compiled = plan().simple(node, run)
    assert b"".join(run.block.fill(dumps(compiled, 0))) == expected
    run = Run(arguments)
    assert dumps(plan().slow(node, run), 0) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"parent": True},
        {"parent": "1"},
        {"score": 1},
        {"flag": 1},
        {"parts": (Part(),)},
        {"parts": [Part.model_construct(kind="none")]},  # type: ignore[arg-type]
        {"part": None},
        {"other_name": "x" * (TEXT_SLICE + 1)},
        {"other_name": b"x"},
        {"ids": [1, 2]},
        {"ids": np.zeros((2, 2), dtype=np.int32)},
        {"ids": np.array([1, 2], dtype=">i4")},
        {"mask": np.array([1, 0], dtype=np.uint8)},
        {"floats": np.array([object()])},
        {"info": {"a": object()}},
        {"info": {1: 2}},
    ],
)
def test_what_is_not_as_declared_has_no_simple_form(changes: dict[str, Any]) -> None:
    node = Node()
    node.__dict__.update(changes)
    assert plan().simple(node, Run({})) is HEAVY


def test_extras_another_order_and_a_missing_field() -> None:
    for odd in ({"extra": object()}, {"otherName": 1}, {"extra": ["x" * 99_999]}):
        assert plan().simple(Node(**odd), Run({})) is HEAVY
    missing = Node()
    del missing.__dict__["score"]
    assert plan().simple(missing, Run({})) is HEAVY
    turned = Node()
    turned.__dict__["parent"] = turned.__dict__.pop("parent")
    run = Run({})
    assert orjson.loads(dumps(plan().simple(turned, run), 0))["parent"] is None


def test_a_subclass_is_unknown() -> None:
    class Sub(Node):
        pass

    assert plan().simple(Sub(), Run({})) is UNKNOWN


def test_field_names_never_reach_the_source() -> None:
    name = "a'\"\\\n"
    odd = create_model("Odd", **{name: (int, 1)})  # type: ignore[call-overload]
    model = odd()
    found = plan_of(odd)
    assert found is not None
    assert dumps(found.simple(model, Run({})), 0) == orjson.dumps(model.model_dump(mode="json"))


class Tree(BaseModel):
    number: int = 1
    ids: IntColumn = Field(default_factory=lambda: np.array([1, 2], dtype=np.int32))
    left: "Tree | None" = None
    trees: list["Tree"] = []


def test_a_class_that_holds_itself_has_simple_forms_of_a_few_levels() -> None:
    found = plan_of(Tree)
    assert found is not None
    deep = shallow = Tree(left=Tree(trees=[Tree(), Tree(left=Tree())]))
    for _ in range(60):
        deep = Tree(left=deep)
    run = Run({})
    compiled = dumps(found.simple(shallow, run), 0)
    assert b"".join(run.block.fill(compiled)) == orjson.dumps(shallow.model_dump(mode="json"))
    assert found.simple(deep, run) is HEAVY
    assert run.level == 0
    assert to_json(deep) == orjson.dumps(deep.model_dump(mode="json"))


def test_the_slow_form_gives_up_too() -> None:
    class Sub(Node):
        pass

    assert plan().slow(Sub(), Run({})) is UNKNOWN
    odd = Node()
    odd.__dict__["parent"] = "none"
    assert plan().slow(odd, Run({})) is HEAVY
