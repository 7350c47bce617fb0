"""What may be logged, and how it is told apart."""

from typing import Any

import numpy as np
import orjson
import pytest
from pydantic import BaseModel

from encoder import to_json
from tests.uploader.monitors.doubles import chat
from uploader.errors import ConfigurationError
from uploader.monitors.data import ModelRecord, Where, is_trace, sorted_out, usable_where
from uploader.records import record_pieces


class Plain(BaseModel):
    x: int = 1


class Speaking:
    def to_record(self) -> dict[str, Any]:
        return {"x": 1}


def test_a_mapping_is_a_row_of_metrics_of_its_own() -> None:
    values = {"loss": 0.5}
    taken = sorted_out(values)
    assert taken == values
    assert taken is not values


@pytest.mark.parametrize("record", [chat(), chat().traces[0], Speaking(), b"{}\n", bytearray(b"{}")])
def test_a_record_is_taken_alone_or_among_others(record: Any) -> None:
    (taken,) = sorted_out(record)
    assert taken is record
    assert sorted_out([record, {"id": 1}]) == [record, {"id": 1}]
    assert sorted_out(iter((record,))) == [record]


def test_the_list_of_records_is_the_monitors_own() -> None:
    records = [chat()]
    taken = sorted_out(records)
    records.clear()
    assert len(taken) == 1


@pytest.mark.parametrize("data", [Plain(), [Plain()], (Plain(),)])
def test_any_pydantic_model_is_a_record(data: Any) -> None:
    taken = sorted_out(data)
    assert taken == [ModelRecord(Plain())]
    assert b"".join(record_pieces(taken[0])) == to_json(Plain())


def test_only_the_models_that_need_it_are_wrapped() -> None:
    episode = chat()
    assert sorted_out([episode, Plain(x=2), {"x": 3}]) == [episode, ModelRecord(Plain(x=2)), {"x": 3}]


@pytest.mark.parametrize("data", ["text", 5, None, object()])
def test_what_is_neither_is_refused(data: object) -> None:
    with pytest.raises(ConfigurationError, match=f"data: .* not {type(data).__name__}"):
        sorted_out(data)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (chat(), False),
        (chat().traces[0], True),
        ({"id": 1, "nodes": []}, True),
        ({"id": 1, "traces": []}, False),
        ({"id": 1}, False),
        (b"{}", False),
    ],
)
def test_traces_are_told_from_episodes(record: Any, expected: bool) -> None:
    assert is_trace(record) is expected


def test_where_data_belong() -> None:
    assert usable_where(3, "eval", "effective") == Where(3, "eval", "effective")
    step = usable_where(np.int64(3), "train", "all").step
    assert (step, type(step)) == (3, int)
    assert orjson.dumps(step) == b"3"


@pytest.mark.parametrize("step", [-1, None, 1.0, "1", True])
def test_a_step_is_a_whole_number(step: object) -> None:
    with pytest.raises(ConfigurationError, match="step: "):
        usable_where(step, "train", "all")


def test_kinds_and_subsets_are_given() -> None:
    with pytest.raises(ConfigurationError, match="kind: it must be 'train' or 'eval', not 'test'"):
        usable_where(0, "test", "all")
    with pytest.raises(ConfigurationError, match="subset: it must be 'all' or 'effective', not 'x/y'"):
        usable_where(0, "train", "x/y")


@pytest.mark.parametrize(
    ("where", "name", "expected"),
    [
        (Where(0), "loss", "loss"),
        (Where(0, "eval"), "reward", "eval/reward"),
        (Where(0, "eval"), "eval/reward", "eval/reward"),
        (Where(0, "train", "effective"), "reward", "effective/reward"),
        (Where(0, "train", "effective"), "effective/reward", "effective/reward"),
        (Where(0, "eval", "effective"), "reward", "eval/effective/reward"),
        (Where(0, "eval", "effective"), "effective/reward", "eval/effective/reward"),
    ],
)
def test_names_say_where_metrics_belong(where: Where, name: str, expected: str) -> None:
    assert where.qualify(name) == expected
