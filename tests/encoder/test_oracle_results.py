"""What serializers return or raise, of every kind."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import functools
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    Field,
    PlainSerializer,
    RootModel,
    computed_field,
    model_serializer,
)
from pydantic_core import PydanticOmit, PydanticSerializationError, PydanticSerializationUnexpectedValue

from tests.encoder import zoo
from tests.encoder.oracle import assert_same
from tests.naming import stable_id

RESULTS: list[Any] = [
    None, 1, True, 2.5, float("nan"), "text", "\ud800", b"b", b"\xff", 2**64, (1, 2), [1, None,
    zoo.LeafChild()], {"k": None, 1: 2}, {1}, zoo.Color.RED, zoo.LeafChild(a=5),
    zoo.Hexed(), zoo.Computed(), zoo.Point(), object(), {"k": "x" * 40_000, "l": list(range(5000))},
    [[[[zoo.Leaf()]]]], range(3),
]  # fmt: skip


@pytest.mark.parametrize(
    "return_type",
    [None, Any, int, str, list[int], dict[str, int], zoo.Leaf, zoo.Leaf | None, float, zoo.LeafMap],
    ids=stable_id,
)
def test_results_of_every_kind(return_type: Any) -> None:
    options: dict[str, Any] = {} if return_type is None else {"return_type": return_type}
    for result in RESULTS:
        value = PlainSerializer(lambda value, result=result: result, **options)

        class Model(BaseModel):
            a: Annotated[int, value] = 1
            b: list[Annotated[int, value]] = [1, 2]
            c: dict[str, Annotated[int, value]] = {"k": 1}
            d: Annotated[int, value] | None = None

            @computed_field(return_type=Any if return_type is None else return_type)
            @property
            def e(self, result: Any = result) -> Any:
                return result

        assert_same(Model())
        assert_same(Model(d=1), exclude_none=True)
        assert_same(Model(), exclude={"a": {"k"}, "b": {0: {"k"}, 1: True}, "e": {"k"}})


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: stable_id(result)[:30])
def test_model_serializers_that_return_anything(result: Any) -> None:
    class Plain(BaseModel):
        a: int = 1

        @model_serializer
        def _ser(self) -> Any:
            return result

    class Wrap(BaseModel):
        a: int = 1
        b: zoo.Leaf = zoo.Leaf()

        @model_serializer(mode="wrap")
        def _ser(self, handler: Any) -> Any:
            return [handler(self), result]

    class Holder(BaseModel):
        one: Plain
        many: list[Wrap]
        maybe: Plain | None = None
        union: Plain | Wrap | int = 0

    for model in (
        Plain(),
        Wrap(),
        Holder(one=Plain(), many=[Wrap(), Wrap()], maybe=Plain(), union=Wrap()),
        zoo.AnyRoot([Plain(), {"k": Wrap()}]),
    ):
        for kwargs in (
            {},
            {"exclude": {"a": True, "b": {"a"}, "one": {"a"}, "many": {0: {"a"}}}},
            {"exclude_none": True},
        ):
            assert_same(model, **kwargs)


ERRORS: list[Callable[[], Exception]] = [
    lambda: ValueError("v"), lambda: TypeError("t"), lambda: KeyError("k"), lambda: AttributeError("a"),
    lambda: RecursionError("r"), lambda: StopIteration(1),
    lambda: PydanticOmit(), lambda: PydanticSerializationError("p"),
    lambda: PydanticSerializationUnexpectedValue("u"), lambda: ZeroDivisionError(),
]  # fmt: skip


@pytest.mark.parametrize("make_error", ERRORS, ids=lambda make: type(make()).__name__)
def test_errors_of_every_kind(make_error: Callable[[], BaseException]) -> None:
    def fail(value: Any) -> Any:
        raise make_error()

    class Fields(BaseModel):
        a: Annotated[int, PlainSerializer(fail)] = 1

    class Computed(BaseModel):
        a: int = 1

        @computed_field
        @property
        def b(self) -> int:
            raise make_error()

    class Whole(BaseModel):
        a: int = 1

        @model_serializer
        def _ser(self) -> Any:
            raise make_error()

    class ExcludeIf(BaseModel):
        a: int = Field(1, exclude_if=fail)

    for cls in (Fields, Computed, Whole, ExcludeIf):
        assert_same(cls())
        assert_same(zoo.AnyRoot([1, cls()]))
        assert_same(RootModel[list[cls]]([cls()]))
        assert_same(zoo.Tree.model_construct(kids=[cls()]))
        assert_same(RootModel[cls | int](cls()))


def test_partial_and_callable_serializers() -> None:
    class Calling:
        def __call__(self, value: Any) -> Any:
            return [value]

    class Model(BaseModel):
        a: Annotated[int, PlainSerializer(functools.partial(max, 5))] = 1
        b: Annotated[int, PlainSerializer(Calling())] = 1
        c: Annotated[int, PlainSerializer(str)] = 1

    assert_same(Model())
    assert_same(zoo.AnyRoot([Model()]))


def test_generators_are_consumed_once() -> None:
    class Lazy(BaseModel):
        a: Any
        b: Any = None

    def make() -> Lazy:
        shared = (i for i in range(5))
        return Lazy(a=[shared, shared], b=shared)

    assert_same(make)
    assert_same(lambda: Lazy(a=iter([zoo.Leaf(), iter([1, iter([2])])])))
    assert_same(lambda: Lazy(a=(i for i in range(100_000))))
    assert_same(lambda: Lazy(a=map(str, range(3)), b=zip("ab", "cd", strict=True)))

    def failing() -> Any:
        yield 1
        raise ValueError("half way")

    assert_same(lambda: Lazy(a=failing()))
