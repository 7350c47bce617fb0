"""A record that fails, fails alone, with an error that a user can work with."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import pickle

import orjson
import pytest
from pydantic import (
    BaseModel,
    computed_field,
)

from encoder.encode import aiter_json, iter_json, to_json
from encoder.errors import EncodeError, EncoderError
from tests.encoder import zoo
from tests.encoder.oracle import assert_same
from tests.encoder.test_errors_paths import BIG, FAULTS, NODE, OBJECT, Message, Node, Record, Trace, failure, with_node


def test_an_error_is_this_records_alone() -> None:
    good = Record(traces=[Trace(nodes=[Node(message=Message(content="x"))])])
    expected = orjson.dumps(good.model_dump(mode="json"))
    shared = Message(content="shared")
    for fault in FAULTS:
        bad = with_node(message=Message.model_construct(content=[fault]), extra=shared)
        with pytest.raises(EncodeError):
            to_json(bad)
        assert to_json(good) == expected
        assert_same(Record(traces=[Trace(nodes=[Node(extra=shared)])]))
        assert bad.traces[1].nodes[2].message.content == [fault]
    cyclic = zoo.Tree()
    cyclic.next = cyclic
    with pytest.raises(EncodeError):
        to_json(cyclic)
    cyclic.next = None
    assert_same(cyclic)


def test_pieces_before_a_fault_are_a_prefix() -> None:
    bad = Trace(info={"a": "x" * 300_000, "b": "y" * 300_000, "z": OBJECT})
    good = bad.model_copy(update={"info": {**bad.info, "z": None}})
    whole = to_json(good)
    given = b""
    pieces = iter_json(bad)
    with pytest.raises(EncodeError) as caught:  # noqa: PT012 - what came before the error counts
        for piece in pieces:
            given += piece
    assert caught.value.path == "$.info.z"
    assert whole.startswith(given)


async def test_async_errors_are_the_same() -> None:
    bad = with_node(token_ids=[1, BIG])
    with pytest.raises(EncodeError) as caught:
        async for _ in aiter_json(bad):
            pass
    assert caught.value.path == f"{NODE}.token_ids[1]"


def test_abandoned_encodings_leave_nothing_behind() -> None:
    record = Record(traces=[Trace(info={"k": "x" * 500_000}) for _ in range(3)])
    pieces = iter_json(record)
    next(pieces)
    pieces.close()
    assert_same(record)


def test_errors_are_picklable_and_ours() -> None:
    error = failure(with_node(parent=BIG))
    assert isinstance(error, EncoderError)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.path, copy.reason, str(copy)) == (EncodeError, error.path, error.reason, str(error))
    assert "64" in error.reason


def test_what_is_no_model() -> None:
    for value in (None, {"a": 1}, zoo.Point(), zoo.Leaf):
        with pytest.raises(EncodeError):
            to_json(value)


def test_unknown_arguments_are_the_callers_mistake() -> None:
    for kwargs in ({"mode": "json"}, {"indent": 2}, {"bogus": 1}):
        with pytest.raises(TypeError):
            to_json(zoo.Leaf(), **kwargs)
        with pytest.raises(TypeError):
            list(iter_json(zoo.Leaf(), **kwargs))


def test_interrupts_pass_through() -> None:
    class Stopping(BaseModel):
        a: int = 1

        @computed_field
        @property
        def b(self) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        to_json(Stopping())
    assert_same(zoo.Leaf())
