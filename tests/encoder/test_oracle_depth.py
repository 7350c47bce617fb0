"""Depth counts over the whole document; cycles end, shared parts do not (family 12)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, create_model

from encoder.columns import IntColumn
from encoder.encode import to_json
from encoder.errors import EncodeError
from tests.encoder import zoo
from tests.encoder.oracle import assert_same


def lists(count: int, inside: Any = None) -> Any:
    """Lists inside each other, `count` of them."""
    value = [] if inside is None else [inside]
    for _ in range(count - 1):
        value = [value]
    return value


def dicts(count: int) -> Any:
    """Dicts inside each other, `count` of them."""
    value: Any = {}
    for _ in range(count - 1):
        value = {"k": value}
    return value


def trees(count: int, **last: Any) -> zoo.Tree:
    """Trees inside each other, two containers each, in fields of all kinds."""
    value = zoo.Tree.model_construct(**last)
    for number in range(count - 1):
        value = zoo.Tree.model_construct(**({"kids": [value]} if number % 2 else {"named": {"k": value}}))
    return value


def chain(count: int, **last: Any) -> zoo.Tree:
    """Trees inside each other, one container each."""
    value = zoo.Tree.model_construct(**last)
    for _ in range(count - 1):
        value = zoo.Tree.model_construct(next=value)
    return value


class Typed(BaseModel):
    ints: list[int] = []
    matrix: list[list[int]] = []
    table: dict[str, dict[str, int]] = {}
    leaf: zoo.Leaf | None = None
    pets: list[zoo.Pet] = []
    any: Any = None
    loose: zoo.Loose | None = None
    typed: "Typed | None" = None
    pair: tuple[int, list[int]] = (1, [])
    text: str = ""


def nested(count: int, **last: Any) -> Typed:
    """Models inside each other, one container each."""
    value = Typed.model_construct(**last)
    for _ in range(count - 1):
        value = Typed.model_construct(typed=value)
    return value


class Held(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    ints: IntColumn | None = None
    rows: list[IntColumn] | None = None
    held: "Held | None" = None


def held(count: int, ints: Iterable[int] | None = None, rows: list[Any] | None = None) -> Held:
    """Models with columns inside each other, one container each."""
    value = Held(ints=None if ints is None else list(ints), rows=rows)
    for _ in range(count - 1):
        value = Held(held=value)
    return value


BUILDERS: dict[str, Callable[[int], BaseModel]] = {
    "lists under any": lambda depth: zoo.Tree(a=lists(depth - 1)),
    "dicts under any": lambda depth: zoo.Tree(a=dicts(depth - 1)),
    "a scalar deep down": lambda depth: zoo.Tree(a=lists(depth - 1, 5)),
    "a text deep down": lambda depth: zoo.Tree(a=lists(depth - 1, "x" * 100_000)),
    "a model deep down": lambda depth: zoo.Tree(a=lists(depth - 2, zoo.LeafChild())),
    "a tuple deep down": lambda depth: zoo.Tree(a=lists(depth - 2, ())),
    "extras": lambda depth: zoo.Loose(x1=lists(depth - 1)),
    "many extras": lambda depth: zoo.Loose(x0=1, x1=lists(depth - 1), x2=lists(100)),
    "root": lambda depth: zoo.AnyRoot(lists(depth)),
    "chain": lambda depth: chain(depth, kids=1, named=1),
    "chain of lists": lambda depth: chain(depth - 1),
    "chain with any": lambda depth: chain(100, a=lists(depth - 100), kids=1, named=1),
    "chain with a leaf": lambda depth: chain(depth - 1, a=zoo.Leaf(), kids=1, named=1),
    "ints": lambda depth: nested(depth - 1, ints=[1, 2], matrix=None, table=None, pets=None, pair=None),
    "no ints": lambda depth: nested(depth - 1, ints=[], matrix=None, table=None, pets=None, pair=None),
    "bools": lambda depth: nested(depth - 1, ints=[True], matrix=None, table=None, pets=None, pair=None),
    "many ints": lambda depth: nested(depth - 1, ints=list(range(9000)), matrix=None, table=None, pets=None, pair=None),
    "matrix": lambda depth: nested(depth - 2, matrix=[[1], []], pair=None),
    "table": lambda depth: nested(depth - 2, table={"k": {"l": 1}}, pair=None),
    "leaf": lambda depth: nested(depth - 1, leaf=zoo.Leaf(), ints=None, matrix=None, table=None, pets=None, pair=None),
    "loose": lambda depth: nested(depth - 2, loose=zoo.Loose(x=[]), pair=None),
    "pets": lambda depth: nested(depth - 2, pets=[zoo.Cat()], pair=None),
    "dogs": lambda depth: nested(depth - 4, pets=[zoo.Dog(b=[zoo.Cat()])], pair=None),
    "pair": lambda depth: nested(depth - 2),
    "long text": lambda depth: nested(depth - 1, text="x" * 100_000, matrix=None, table=None, pets=None, pair=None),
    "shallow": lambda depth: nested(3, any=lists(depth - 3)),
    "columns": lambda depth: held(depth - 1, ints=[1, 2]),
    "an empty column": lambda depth: held(depth - 1, ints=[]),
    "a long column": lambda depth: held(depth - 1, ints=range(5000)),
    "rows of columns": lambda depth: held(depth - 2, rows=[[1, 2], []]),
    "rows of empty columns": lambda depth: held(depth - 2, rows=[[], []]),
    "recursive trees": lambda depth: trees((depth + 1) // 2),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_borders(name: str) -> None:
    build = BUILDERS[name]
    outcomes = [assert_same(build(depth)).error is None for depth in (100, 204, 205, 253, 254, 255, 256, 258)]
    assert True in outcomes
    assert False in outcomes


def test_types_as_deep_as_their_values() -> None:
    declared: Any = int
    for _ in range(160):
        declared = list[declared]
    with ThreadPoolExecutor(1) as thread:  # pydantic recurses: with a whole stack of its own it comes to an end
        deep = thread.submit(create_model, "Deep", lists=(declared, [])).result()
    assert assert_same(deep.model_construct(lists=lists(160))).error is None
    outcomes = [
        assert_same(zoo.Tree(a=lists(depth, deep.model_construct(lists=lists(160))))).error
        for depth in (91, 92, 93, 103, 110)
    ]
    assert None in outcomes
    assert any(outcomes)


def inside(count: int, name: str, specification: Any) -> Any:
    """A specification inside of others."""
    for _ in range(count):
        specification = {name: specification}
    return specification


def test_filters_at_the_border() -> None:
    for depth in (252, 253, 254, 255):
        assert_same(nested(depth - 1, ints=[1, 2], pair=None), exclude={"typed": {"text"}})
        assert_same(zoo.Tree(a=lists(depth - 1)), exclude={"a": {0}})
        # The last list loses all that it holds, and counts all the same.
        emptied = chain(depth - 1, kids=[zoo.Tree()])
        for kids in ({"__all__"}, {0}, {-1: {"a"}}):
            assert_same(emptied, exclude=inside(depth - 2, "next", {"kids": kids, "named": True}))
        assert_same(chain(depth - 1, a=[1, 2]), exclude_none=True)
        assert_same(chain(depth - 1, a=[1, 2]), exclude_unset=True)


def test_far_too_deep() -> None:
    assert_same(zoo.Tree(a=lists(100_000)))
    assert_same(zoo.Tree(a=dicts(5_000)))
    assert_same(chain(900))
    assert_same(trees(900))


def cyclic() -> dict[str, BaseModel]:
    """Models that hold themselves in all sorts of places."""
    found: dict[str, BaseModel] = {}

    def new(name: str) -> zoo.Tree:
        tree = zoo.Tree()
        found[name] = tree
        return tree

    tree = new("any")
    tree.a = tree
    tree = new("any list")
    tree.a = [tree]
    tree = new("kids")
    tree.kids = [zoo.Tree(), tree]
    tree = new("named")
    tree.named = {"k": tree}
    tree = new("next")
    tree.next = zoo.Tree(next=zoo.Tree(kids=[tree]))
    loop: list[Any] = [1]
    loop.append(loop)
    new("list").a = loop
    table: dict[str, Any] = {}
    table["k"] = [table]
    new("dict").a = table
    typed = new("kids list")
    typed.kids.append(typed.kids)
    loose = zoo.Loose()
    loose.x1 = {"k": loose}
    found["extras"] = loose
    point = zoo.Point()
    point.b = [point]
    new("dataclass").a = point
    found["root"] = root = zoo.AnyRoot([1])
    root.root.append(root)
    computed = zoo.Computed()
    computed.x1 = computed
    found["computed"] = computed
    dog = zoo.Dog()
    dog.b.append(dog)
    found["tagged"] = dog
    return found


@pytest.mark.parametrize("name", cyclic())
def test_cycles(name: str) -> None:
    model = cyclic()[name]
    error = assert_same(model).error
    assert error is not None
    with pytest.raises(EncodeError) as caught:
        to_json(model)
    assert isinstance(caught.value.__cause__, type(error))
    assert str(caught.value.__cause__) == str(error)
    assert len(caught.value.path) < 40  # it ends where the cycle does
    assert_same(zoo.AnyRoot([model]))
    assert_same(model, exclude={"a", "kids", "named", "next", "x1", "b"})
    assert_same(model, exclude_none=True)
    assert_same(zoo.Leaf())  # the next record is written as ever


def test_shared_parts_are_no_cycles() -> None:
    leaf, tree, items, table = zoo.Leaf(), zoo.Tree(), [1, [2]], {"k": [1]}
    shared = zoo.Tree(
        a=[leaf, leaf, items, items, table, {"t": table}, tree, tree],
        kids=[tree, tree],
        named={"a": tree, "b": tree},
        next=tree,
    )
    assert_same(shared)
    assert_same(zoo.Tree(a=shared, next=shared, kids=[shared, shared]))
    assert_same(zoo.Computed(x1=leaf, x2=leaf, b=1))
