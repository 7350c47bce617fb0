from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, RootModel, field_serializer

from encoder import EncodeError, encode, record_gaps, small, to_json
from encoder.compiled import IS_COMPILED
from encoder.pumps import whole
from encoder.small import small_json
from tests.encoder.oracle import oracle

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="only the compiled part writes small records by one call")

calls: list[str] = []


class Usage(BaseModel):
    name: str
    tokens: int | None = None
    parts: list[int] = []


class Event(BaseModel):
    id: UUID = UUID(int=7)
    at: datetime = datetime(2030, 1, 1, tzinfo=UTC)
    name: str = "é\n"


class Told(BaseModel):
    text: str
    times: int

    @field_serializer("text")
    def repeat(self, text: str) -> str:
        calls.append(text)
        if self.times < 0:
            raise ValueError("negative")
        return text * self.times


class Loop(BaseModel):
    inner: Any = None


@pytest.fixture(autouse=True)
def no_calls() -> None:
    calls.clear()


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was written in steps, by `encode` and by `small`."""
    written: list[bytes] = []

    def noted(fill: Callable[[list[bytes]], Iterator[object]]) -> bytes:
        written.append(whole(fill))
        return written[-1]

    monkeypatch.setattr(encode, "whole", noted)
    monkeypatch.setattr(small, "whole", noted)
    return written


@pytest.mark.parametrize(
    "record",
    [Usage(name="a"), Usage(name="é\x00", tokens=2**40, parts=[1, 2]), Event(), Told(text="a", times=3)],
    ids=lambda record: type(record).__name__,
)
def test_a_small_record_is_written_by_one_call(record: BaseModel, stepped: list[bytes]) -> None:
    assert to_json(record) == oracle(record)
    assert not stepped


@pytest.mark.parametrize(
    "record",
    [
        Usage(name="a" * 100_000),
        Usage(name="a", parts=list(range(100_000))),
        Event(name="a" * 100_000),
        Usage.model_construct(name="a", tokens=1.5),  # type: ignore[arg-type]
        RootModel[list[int]]([1, 2]),
        Loop(inner=[[[Usage(name="a" * 100_000)]]]),
    ],
    ids=["long text", "long list", "long text beside dates", "not as declared", "root model", "nested"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_other_is_written_in_steps(record: BaseModel, stepped: list[bytes]) -> None:
    assert to_json(record) == oracle(record)
    assert len(stepped) == 1


def test_arguments_are_followed_in_steps(stepped: list[bytes]) -> None:
    assert to_json(Usage(name="a"), exclude_none=True) == b'{"name":"a","parts":[]}'
    assert len(stepped) == 1


def test_a_light_record_that_grows_is_written_in_steps_and_asked_once(stepped: list[bytes]) -> None:
    record = Told(text="a" * 100, times=100_000)
    assert len(to_json(record)) == 10_000_000 + len('{"text":"","times":100000}')
    assert len(calls) == 1
    assert len(stepped) == 1


def test_a_refusal_tells_the_path_and_its_cause() -> None:
    with pytest.raises(EncodeError, match="negative") as caught:
        to_json(Told(text="a", times=-1))
    with pytest.raises(Exception, match="negative") as expected:
        oracle(Told(text="a", times=-1))
    assert caught.value.path == "$"
    assert type(caught.value.__cause__) is type(expected.value)


def test_orjsons_refusal_tells_the_path() -> None:
    with pytest.raises(EncodeError) as caught:
        to_json(Usage(name="a", parts=[1, 2**70]))
    assert caught.value.path == "$.parts[1]"


def test_a_record_that_holds_itself_is_refused() -> None:
    record = Loop()
    record.inner = {"again": record}
    with pytest.raises(EncodeError, match="Circular reference"):
        to_json(record)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(EncodeError, match="an instance of a pydantic model is needed"):
        to_json({"a": 1})  # type: ignore[arg-type]


def test_it_is_recorded_where_somebody_records() -> None:
    with record_gaps() as gaps:
        to_json(Usage(name="a"))
    assert gaps.steps.count


def test_a_row_of_small_records_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pacer:
        pauses = 0

        def pause_if_due(self) -> bool:
            self.pauses += 1
            return True

        def leave(self) -> None:
            pass

    pacer = Pacer()
    monkeypatch.setattr(small, "thread_pacer", lambda: pacer)
    for _ in range(5):
        assert small_json(Usage(name="a")) == b'{"name":"a","tokens":null,"parts":[]}'
    assert pacer.pauses == 5
