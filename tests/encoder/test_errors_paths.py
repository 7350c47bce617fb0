"""`EncodeError` says where: the path of the value at fault, its cause chained, this record's alone."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    computed_field,
    create_model,
    field_serializer,
)

from encoder.encode import to_json
from encoder.errors import EncodeError
from tests.encoder import zoo
from tests.encoder.oracle import assert_same
from tests.naming import stable_id

SURROGATE, BIG, OBJECT, BLOB = "\ud800", 2**64, object(), b"\xff"
FAULTS = [SURROGATE, BIG, OBJECT, BLOB]


class Part(BaseModel):
    text: Any = "fine"


class Message(BaseModel):
    role: str = "user"
    content: Any = ""
    parts: list[Part] = []
    name: str | None = None


class Node(BaseModel):
    model_config = ConfigDict(extra="allow")
    parent: int | None = None
    message: Message = Message()
    token_ids: list[int] = []
    weights: dict[str, list[float]] = {}
    pet: zoo.Pet = zoo.Cat()
    scores: tuple[int, ...] = ()


class Trace(BaseModel):
    id: str = "id"
    nodes: list[Node] = []
    info: dict[str, Any] = {}
    state: Any = None
    root: zoo.LeafMap | None = None


class Record(BaseModel):
    traces: list[Trace] = []
    maybe: Trace | None = None
    union: Trace | int = 0


def failure(model: BaseModel, **kwargs: Any) -> EncodeError:
    """The error of an encoding that the oracle refuses as well."""
    assert assert_same(model, **kwargs).error is not None
    with pytest.raises(EncodeError) as caught:
        to_json(model, **kwargs)
    return caught.value


def path_of(model: BaseModel, **kwargs: Any) -> str:
    return failure(model, **kwargs).path


def with_node(**fields: Any) -> Record:
    """A record whose node `$.traces[1].nodes[2]` is made without validation."""
    nodes = [Node(), Node(message=Message(content="x")), Node.model_construct(**fields), Node()]
    return Record(traces=[Trace(), Trace(nodes=nodes)])


NODE = "$.traces[1].nodes[2]"


@pytest.mark.parametrize("fault", FAULTS, ids=["surrogate", "integer", "object", "bytes"])
@pytest.mark.parametrize(
    ("build", "path"),
    [
        (lambda fault: with_node(message=Message.model_construct(content=fault)), f"{NODE}.message.content"),
        (lambda fault: with_node(message=Message.model_construct(role=fault)), f"{NODE}.message.role"),
        (lambda fault: with_node(message=Message.model_construct(name=fault)), f"{NODE}.message.name"),
        (
            lambda fault: with_node(message=Message.model_construct(content=[1, {"k": [fault]}])),
            f"{NODE}.message.content[1].k[0]",
        ),
        (
            lambda fault: with_node(message=Message.model_construct(parts=[Part(), Part(text=fault)])),
            f"{NODE}.message.parts[1].text",
        ),
        (
            lambda fault: with_node(
                message=Message.model_construct(parts=[*[Part(text="x" * 70_000)] * 3, Part(text={"k": fault})])
            ),
            f"{NODE}.message.parts[3].text.k",
        ),
        (lambda fault: with_node(parent=fault), f"{NODE}.parent"),
        (lambda fault: with_node(token_ids=[1, 2, fault, 4]), f"{NODE}.token_ids[2]"),
        (lambda fault: with_node(token_ids=[*range(9000), fault, 4]), f"{NODE}.token_ids[9000]"),
        (lambda fault: with_node(weights={"a": [], "b": [0.5, [fault]]}), f"{NODE}.weights.b[1][0]"),
        (lambda fault: with_node(scores=(1, fault)), f"{NODE}.scores[1]"),
        (lambda fault: with_node(extra=[fault]), f"{NODE}.extra[0]"),
        (
            lambda fault: with_node(extra={"a": "x" * 70_000, "weird key": {"deep": fault}}),
            f'{NODE}.extra["weird key"].deep',
        ),
        (lambda fault: with_node(pet=zoo.Cat.model_construct(a=fault)), f"{NODE}.pet.a"),
        (
            lambda fault: with_node(pet=zoo.Dog.model_construct(b=[zoo.Cat(), zoo.Cat.model_construct(a=fault)])),
            f"{NODE}.pet.b[1].a",
        ),
        (lambda fault: Record(maybe=Trace(info={"k": [1, fault]})), "$.maybe.info.k[1]"),
        (lambda fault: Record(maybe=Trace(info={"weird key": fault})), '$.maybe.info["weird key"]'),
        (lambda fault: Record(maybe=Trace(info={"": fault})), '$.maybe.info[""]'),
        (lambda fault: Record(maybe=Trace(info={'q"\\': fault})), '$.maybe.info["q\\"\\\\"]'),
        (lambda fault: Record(maybe=Trace(info={"0": fault})), '$.maybe.info["0"]'),
        (
            lambda fault: Record(
                maybe=Trace(info={f"k{number}": number for number in range(3000)} | {"last": [fault]})
            ),
            "$.maybe.info.last[0]",
        ),
        (lambda fault: Record(maybe=Trace(state=fault)), "$.maybe.state"),
        (lambda fault: Record(maybe=Trace(state=[[{"a": (1, [fault])}]])), "$.maybe.state[0][0].a[1][0]"),
        (lambda fault: Record(maybe=Trace(state=[zoo.Leaf.model_construct(b=fault)])), "$.maybe.state[0].b"),
        (lambda fault: Record(maybe=Trace(state=[0] * 20_000 + [fault])), "$.maybe.state[20000]"),
        (lambda fault: Record(union=Trace(state=fault)), "$.union.state"),
        (lambda fault: zoo.AnyRoot(fault), "$"),
        (lambda fault: zoo.Loose(x1=1, x2={"deep": [fault]}), "$.x2.deep[0]"),
    ],
)
def test_paths(build: Callable[[Any], BaseModel], path: str, fault: Any) -> None:
    error = failure(build(fault))
    assert error.path == path
    assert isinstance(error.__cause__, Exception)
    assert str(error) == f"{path}: {error.reason}"


@pytest.mark.parametrize("fault", FAULTS, ids=["surrogate", "integer", "object", "bytes"])
def test_paths_inside_root_models(fault: Any) -> None:
    """A root model is no step of a path: its JSON is its value's."""
    leaves = zoo.LeafMap.model_construct({"k": zoo.Leaf.model_construct(b=fault)})
    assert path_of(Record(maybe=Trace(root=leaves))) == "$.maybe.root.k.b"
    assert path_of(zoo.AnyRoot([1, {"k": fault}])) == "$[1].k"
    assert path_of(zoo.IntList.model_construct([1, fault])) == "$[1]"


def test_paths_of_computed_fields() -> None:
    class Computed(BaseModel):
        a: int = 1

        @computed_field
        @property
        def total(self) -> int:
            raise ZeroDivisionError("nothing")

    holder = create_model("Holder", computed=(list[Computed], []))
    error = failure(holder(computed=[Computed()]))
    assert error.path == "$.computed[0].total"
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_long_texts_fail_where_they_stand() -> None:
    assert path_of(Record(maybe=Trace.model_construct(id="x" * 200_000 + SURROGATE))) == "$.maybe.id"
    assert path_of(Record(maybe=Trace(info={"k": [1, "x" * 200_000 + SURROGATE]}))) == "$.maybe.info.k[1]"


def test_paths_of_surrogate_keys_are_writable() -> None:
    """The path itself can be logged, printed and encoded, whatever the record held."""
    loose = zoo.Loose(x=1)
    loose.__pydantic_extra__[SURROGATE] = 1
    for model in (
        Record(maybe=Trace(state={"a": {SURROGATE: 1}})),
        loose,
        Record(maybe=Trace(state={SURROGATE: 1, "b": 2})),
    ):
        error = failure(model)
        assert error.path.startswith("$")
        error.path.encode()
        str(error).encode()


@pytest.mark.planned  # of a whole record, the parts that are left out are looked at too
def test_paths_under_filters() -> None:
    record = with_node(message=Message.model_construct(content=BIG))
    assert path_of(record, exclude={"traces": {1: {"nodes": {0}}}}) == f"{NODE}.message.content"
    assert path_of(record, exclude_none=True) == f"{NODE}.message.content"
    assert assert_same(record, exclude={"traces": {1: {"nodes": {2: {"message"}}}}}).error is None


def test_paths_of_serializers_and_computed_fields() -> None:
    def fail(value: Any) -> Any:
        raise ValueError("no way")

    class Item(BaseModel):
        a: Annotated[int, PlainSerializer(fail)] = 1

    class Odd(BaseModel):
        a: int = 1
        b: Any = None

        @field_serializer("a")
        def _a(self, value: int) -> Any:
            return {"x": [1, SURROGATE]}

        @computed_field
        @property
        def c(self) -> Any:
            return [{"k": BIG}]

    class Excluding(BaseModel):
        a: int = Field(1, exclude_if=fail)

    holder = create_model(
        "Holder",
        items=(list[Any], []),
        typed=(list[Item | int], []),
        excluding=(Excluding | None, None),
    )
    error = failure(holder(items=[1, Item()]))
    assert error.path.startswith("$.items[1]")
    assert "no way" in error.reason
    assert failure(holder.model_construct(typed=[1, Item()])).path.startswith("$.typed[1]")
    assert failure(holder(excluding=Excluding())).path.startswith("$.excluding")
    assert path_of(Odd()) == "$.a.x[1]"
    assert path_of(Odd(), exclude={"a"}) == "$.c[0].k"


def test_paths_of_what_the_oracle_refuses_as_a_whole() -> None:
    for kwargs in (
        {"exclude": False},
        {"include": 5},
        {"exclude": {"traces": False}},
        {"include": {"traces": {0: 5}}},
        {"exclude": {"traces": {"__all__": {"id"}, 0: None}}},
    ):
        assert failure(with_node(), **kwargs).path.startswith("$")
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    assert failure(Record(maybe=Trace(state=deep))).path.startswith("$.maybe.state")
    tree = zoo.Tree()
    tree.kids = [zoo.Tree(), tree]
    assert failure(tree).path.startswith("$")


@pytest.mark.parametrize("arguments", [{}, {"serialize_as_any": True}, {"round_trip": True}], ids=stable_id)
def test_paths_of_extras_sets_and_computed_fields_where_pydantic_dumps_the_whole(arguments: dict[str, Any]) -> None:
    class Computing(BaseModel):
        model_config = ConfigDict(extra="allow")
        fails: bool = True

        @computed_field
        @property
        def total(self) -> Any:
            return 1 // (not self.fails)

    assert path_of(zoo.Loose(x1=1, x2={"deep": [OBJECT]}), **arguments) == "$.x2.deep[0]"
    assert path_of(zoo.Tree(a=[{OBJECT}]), **arguments) == "$.a[0][0]"
    if "round_trip" not in arguments:  # which leaves computed fields out
        assert path_of(zoo.Tree(a=[Computing()]), **arguments) == "$.a[0].total"
    assert path_of(zoo.Tree(a=[Computing(fails=False, x=OBJECT)]), **arguments) == "$.a[0].x"
