"""Which writer a class's fields get: the fast ones where all is known, a plain `Writer` where it is not."""

import datetime
from collections.abc import Generator
from typing import Annotated, Any, Literal

import orjson
import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    RootModel,
    computed_field,
    field_serializer,
    model_serializer,
)

from encoder.encode import to_json
from encoder.plan import plan_of
from encoder.preparing import prepare
from encoder.records import Episode, TaskData
from encoder.writers.base import Writer
from encoder.writers.columns import ColumnWriter
from encoder.writers.models import ModelWriter
from encoder.writers.roots import RootWriter


def opaque_paths(writer: Writer, path: str = "", above: tuple[Writer, ...] = ()) -> list[str]:
    """The paths of the places that only pydantic can write."""
    if type(writer) is Writer:
        return [path]
    if writer in above:
        return []
    inner = (*above, writer)
    if not isinstance(writer, ModelWriter):
        return [found for child in writer.children() for found in opaque_paths(child, path, inner)]
    fields = [plan for plan in (*writer.plan.fields.values(), *writer.plan.computed) if not plan.excluded]
    return [found for plan in fields for found in opaque_paths(plan.writer, f"{path}.{plan.name}", inner)]


def test_nothing_of_an_episode_is_left_to_pydantic() -> None:
    plan = plan_of(Episode)
    assert plan is not None
    assert opaque_paths(plan) == []
    (path,) = opaque_paths(plan_of(TaskData) or Writer())
    assert path == ".skills"


def test_nodes_have_a_simple_form_and_columns_a_writer() -> None:
    plan = plan_of(Episode)
    assert isinstance(plan, ModelWriter)
    (traces,) = plan.plan.fields["traces"].writer.children()
    assert isinstance(traces, ModelWriter)
    (node,) = traces.plan.fields["nodes"].writer.children()
    assert isinstance(node, ModelWriter)
    assert node.gathered
    columns = {name for name, field in node.plan.fields.items() if isinstance(field.writer, ColumnWriter)}
    assert columns >= {"token_ids", "mask", "is_content", "logprobs", "advantages", "entropies"}


class Serialized(BaseModel):
    number: int = 1
    other: Annotated[int, PlainSerializer(str)] = 2
    day: datetime.date = datetime.date(2026, 1, 2)

    @field_serializer("number")
    def as_text(self, number: int) -> str:
        return f"<{number}>"


def test_what_a_serializer_writes_is_left_to_pydantic() -> None:
    plan = plan_of(Serialized)
    assert plan is not None
    assert opaque_paths(plan) == [".number", ".other", ".day"]
    assert to_json(Serialized()) == b'{"number":"<1>","other":"2","day":"2026-01-02"}'


class Whole(BaseModel):
    number: int = 1

    @model_serializer
    def as_list(self) -> list[int]:
        return [self.number]


class Rooted(RootModel[list[int]]):
    pass


class Dumping(BaseModel):
    number: int = 1

    def model_dump(self, **arguments: Any) -> dict[str, Any]:
        return {"mine": self.number}


@pytest.mark.parametrize("model", [Whole(), Dumping()])
def test_a_class_that_writes_itself_has_no_plan(model: BaseModel) -> None:
    assert plan_of(type(model)) is None
    assert to_json(model) in (b"[1]", b'{"mine":1}')


class Endless(RootModel[list["Endless"]]):
    pass


class Holding(BaseModel):
    rooted: Rooted = Rooted([1, 2])
    maybe: Rooted | None = None
    endless: Endless = Endless([Endless([])])


def test_a_root_model_is_written_as_what_it_holds() -> None:
    assert isinstance(plan_of(Rooted), RootWriter)
    assert to_json(Rooted([1, 2])) == b"[1,2]"
    plan = plan_of(Holding)
    assert isinstance(plan, ModelWriter)
    assert all(type(field.writer) is RootWriter for field in plan.plan.fields.values())
    assert to_json(Holding()) == b'{"rooted":[1,2],"maybe":null,"endless":[[]]}'


class Hexed(BaseModel):
    model_config = ConfigDict(ser_json_bytes="hex")
    data: Any = b"\xff"


class Based(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64")
    hexed: Hexed = Hexed()
    data: Any = b"\xff"


def test_a_nested_class_of_other_settings_is_left_to_pydantic() -> None:
    plan = plan_of(Based)
    assert plan is not None
    assert opaque_paths(plan) == [".hexed"]
    assert to_json(Based()) == b'{"hexed":{"data":"_w=="},"data":"_w=="}'


class Stepwise(BaseModel):
    @computed_field  # type: ignore[prop-decorator]
    @property
    def cost(self) -> int:
        return 1

    def __encoder_computed__(self, memo: dict[str, Any], length_of: object) -> Generator[None, None, dict[str, object]]:
        yield None
        return {"cost": 1}


class Overriding(Stepwise):
    @computed_field  # type: ignore[prop-decorator]
    @property
    def cost(self) -> int:
        return 2


def test_the_hook_of_a_base_does_not_speak_for_a_property_that_a_subclass_overrides() -> None:
    base, subclass = plan_of(Stepwise), plan_of(Overriding)
    assert isinstance(base, ModelWriter)
    assert base.plan.hook is not None
    assert isinstance(subclass, ModelWriter)
    assert subclass.plan.hook is None
    assert to_json(Overriding()) == b'{"cost":2}'


def test_a_class_is_compiled_once_and_again_when_it_was_rebuilt() -> None:
    class Rebuilt(BaseModel):
        number: int = 1

    first = plan_of(Rebuilt)
    assert plan_of(Rebuilt) is first
    Rebuilt.model_rebuild(force=True)
    assert plan_of(Rebuilt) is not first


class Leaf(BaseModel):
    kind: Literal["leaf"] = "leaf"
    number: int = 1


class Branch(BaseModel):
    kind: Literal["branch"] = "branch"
    text: str = ""
    leaves: list[Leaf] = []


class Holder(BaseModel):
    either: Annotated[Leaf | Branch, Field(discriminator="kind")]


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_field_missing_deep_inside_of_a_union_is_warned_of_as_pydantic_does(size: int) -> None:
    leaf = Leaf()
    del leaf.__dict__["number"]
    holder = Holder(either=Branch(text="x" * size))
    holder.either.leaves.append(leaf)  # type: ignore[union-attr]
    with pytest.warns(UserWarning, match="Expected 2 fields but got 1"):
        expected = orjson.dumps(holder.model_dump(mode="json"))
    with pytest.warns(UserWarning, match="Expected 2 fields but got 1"):
        assert to_json(holder) == expected


def test_a_prepared_class_is_compiled_before_its_first_encoding() -> None:
    class Part(BaseModel):
        number: int = 1

    class Whole(BaseModel):
        part: Part = Part()

    prepare(Whole, exclude_none=True)
    plan = plan_of(Whole)
    assert isinstance(plan, ModelWriter)
    part = plan.plan.fields["part"].writer
    assert isinstance(part, ModelWriter)
    assert set(plan._flats) == set(part._flats) == {(True, None)}


def test_only_model_classes_can_be_prepared() -> None:
    for other in (int, Rooted([1]), None):
        with pytest.raises(TypeError, match="model class"):
            prepare(other)  # type: ignore[arg-type]


def test_preparing_a_class_that_writes_itself_does_nothing() -> None:
    prepare(Rooted)
    assert to_json(Rooted([1])) == b"[1]"
