"""Values beyond every threshold at which the encoder starts to slice; a fault in the middle of them is found."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from tests.encoder import zoo
from tests.encoder.oracle import assert_same

# Around every slice size that the encoder may use, and well above all.
SIZES = [255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8193, 40_000]


def fields(annotation: Any) -> type[BaseModel]:
    return create_model("Big", before=(int, 1), a=(annotation, ...), after=(str, "after"))


@pytest.mark.parametrize("size", SIZES)
def test_lists_of_every_size(size: int) -> None:
    ints = list(range(-5, size - 5))
    floats = [number / 7 for number in ints]
    texts = [f"text \u00e9 {number}" for number in ints]
    for annotation, value in [
        (list[int], ints), (list[float], floats), (list[str], texts), (list[bool],
        [number % 3 == 0 for number in ints]), (list[Any], [*ints[:50], *texts, *floats[:50]]),
        (list[int | None], [None, *ints]), (list[str | int], [*texts[:9], *ints[:9]] * (size // 18)), (Any,
        ints), (Any, [texts, floats]), (tuple[int, ...], tuple(ints)), (set[int], set(ints)),
        (list[float], ints), (list[int], [*ints, True]), (list[int], [*ints, "wrong"]), (list[float],
        [*floats, float("nan"), 1]), (dict[str, int], dict(zip(texts, ints, strict=True))),
        (dict[int, int], dict.fromkeys(ints, 1)), (dict[str, Any], {text: [1] for text in texts}), (Any,
        dict(zip(texts, floats, strict=True))), (Any, {**dict(zip(texts, ints, strict=True)), 5: 1}),
    ]:  # fmt: skip
        model = fields(annotation).model_construct(a=value)
        assert_same(model)


@pytest.mark.parametrize("size", [257, 1500])
def test_many_models(size: int) -> None:
    leaves: list[Any] = [zoo.Leaf(a=number, b=None if number % 2 else "b") for number in range(size)]
    pets: list[Any] = [zoo.Cat(a=number) if number % 3 else zoo.Dog(b=[zoo.Cat()]) for number in range(size)]
    for annotation, value in [
        (list[zoo.Leaf], leaves), (list[zoo.Pet], pets), (list[Any], leaves), (dict[str, zoo.Leaf],
        {str(number): leaf for number, leaf in enumerate(leaves)}), (list[zoo.Leaf], [*leaves,
        zoo.LeafChild(), 5]),
        (list[zoo.Leaf | zoo.Cat], [*leaves[:100], *pets[:100]]), (list[zoo.Seen],
        [zoo.Seen(a=number) for number in range(size // 20)]), (list[zoo.Loose],
        [zoo.Loose(x=number) for number in range(size)]),
        (list[zoo.Computed], [zoo.Computed(a=number) for number in range(size // 20)]), (list[dict[str, int]],
        [{"k": number} for number in range(size)]), (list[list[int]],
        [[number] * 3 for number in range(size)]),
        (list[tuple[int, str]], [(number, "x") for number in range(size)]), (list[zoo.Point],
        [zoo.Point(a=number) for number in range(size)]), (list[zoo.Color], list(zoo.Color) * (size // 4)),
    ]:  # fmt: skip
        model = fields(annotation).model_construct(a=value)
        for kwargs in ({}, {"exclude_none": True}):
            assert_same(model, **kwargs)


FAULTS: list[tuple[str, Any, Callable[[int], Any], Any]] = [
    ("ints", list[int], lambda number: number, 2**64),
    ("texts", list[str], lambda number: "x" * (number % 50), "\ud800"),
    ("any", list[Any], lambda number: [number], object()),
    ("leaves", list[zoo.Leaf], lambda number: zoo.Leaf(a=number), zoo.Leaf.model_construct(a=2**64)),
    ("objects", list[Any], lambda number: {"k": number}, {"k": "\udc00"}),
]


@pytest.mark.parametrize(("name", "annotation", "build", "fault"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_faults_in_the_middle(name: str, annotation: Any, build: Callable[[int], Any], fault: Any) -> None:
    for size, position in ((3000, 0), (3000, 1234), (3000, 2999), (20_000, 19_000)):
        value = [build(number) for number in range(size)]
        value[position] = fault
        assert assert_same(fields(annotation).model_construct(a=value)).error is not None
        assert_same(fields(Any).model_construct(a={"k": value}))
        value[position] = build(position)
        assert assert_same(fields(annotation).model_construct(a=value)).error is None


def test_big_parts_beside_each_other() -> None:
    class Mixed(BaseModel):
        a: str = "a" * 50_000
        b: list[int] = list(range(6000))
        c: str = "\u00e9" * 40_000
        d: dict[str, Any] = {str(number): [number, "x" * 200] for number in range(700)}
        e: int = 1
        f: list[str] = ["y" * 20_000, "", "z" * 70_000]
        g: list[zoo.Leaf] = [zoo.Leaf(b="w" * 10_000) for _ in range(20)]
        h: list[list[float]] = [[0.5] * 5000, [], [1.5] * 3]
        i: Any = [{"k": "v" * 60_000}, ["u" * 60_000], zoo.Leaf(b="t" * 60_000), ("s" * 60_000,)]
        j: zoo.Color = zoo.Color.RED
        k: list[bytes] = [b"r" * 60_000, b"q"]
        empty: list[int] = []
        nothing: dict[str, int] = {}

    for kwargs in (
        {},
        {"exclude_none": True},
        {"exclude": {"a", "j"}},
        {"exclude": {"g": {3}, "i": {1}}},
        {"include": {"f": {-1}, "h": {0, 2}}},
        {"by_alias": True},
    ):
        assert_same(Mixed(), **kwargs)
    assert_same(zoo.AnyRoot([Mixed(), Mixed()]))
    assert_same(zoo.Loose(x1=Mixed(), x2="p" * 100_000, x3=list(range(9000))))


def test_wide_models() -> None:
    wide = create_model(
        "Wide", **{f"field_{number}": (int | None, number if number % 3 else None) for number in range(3000)}
    )
    for kwargs in ({}, {"exclude_none": True}, {"exclude": {f"field_{number}" for number in range(0, 3000, 7)}}):
        assert_same(wide(), **kwargs)
        assert_same(zoo.AnyRoot([wide()]), **kwargs)
    assert_same(zoo.Loose(**{f"x{number}": [number] for number in range(5000)}))
    assert_same(zoo.Loose(**{f"x{number}": zoo.Leaf() for number in range(500)}), exclude={"x3": {"a"}})
