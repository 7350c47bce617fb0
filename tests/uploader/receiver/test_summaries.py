"""The summaries' less obvious values."""

from typing import Any

import pytest

from tests.uploader.receiver.support import dumps
from uploader.receiver.documents import decode_trace
from uploader.receiver.summaries import MAX_TEXT_CHARS, TraceRow, trace_row


def row(**fields: Any) -> TraceRow:
    return trace_row(decode_trace(dumps({"id": "t", **fields}), ""), None, 0, 10)


def test_a_trace_of_nothing_but_an_id() -> None:
    nothing = (None,) * 10
    assert row() == ("t", None, 0, 10, *nothing, False, False, 0, 0)


@pytest.mark.parametrize(
    ("rewards", "reward"),
    [
        ({}, None),
        ({"a": None}, None),
        ({"a": {"score": 0}}, 0.0),
        ({"a": {"score": 1, "weight": 0.5}, "b": {"score": 2}, "c": None}, 2.5),
        ({"a": {"score": 1e308}, "b": {"score": 1e308}}, None),
    ],
)
def test_reward(rewards: Any, reward: float | None) -> None:
    assert row(rewards=rewards).reward == reward


@pytest.mark.parametrize(
    ("start", "created_at"),
    [
        (0.0, None),
        (-0.0, None),
        (1e-9, None),
        (1e-6, 1),
        (1.5, 1_500_000),
        (-1.0, None),
        (1e300, None),
        (-1e12, None),
        (253402300799.0, 253402300799000000),
        (None, None),
    ],
)
def test_created_at(start: float | None, created_at: int | None) -> None:
    assert row(timing={"start": start}).created_at == created_at


@pytest.mark.parametrize(
    ("fields", "is_truncated"),
    [
        ({"stop_condition": "max_turns"}, True),
        ({"stop_condition": "agent_completed"}, False),
        ({"calls": [{"finish_reason": "length"}]}, True),
        ({"calls": [{"finish_reason": "length"}, {"finish_reason": "stop"}]}, False),
        ({"calls": [{"finish_reason": "length"}, {"finish_reason": None, "error": {"type": "E"}}]}, True),
    ],
)
def test_is_truncated(fields: Any, is_truncated: bool) -> None:
    assert row(**fields).is_truncated == is_truncated


@pytest.mark.parametrize(
    ("run", "run_id", "step"),
    [
        ({"type": "train", "id": "r", "work": {"type": "train", "step": 3}}, "r", 3),
        ({"type": "train", "id": "r", "work": {"type": "eval", "step": 3}}, "r", None),
        ({"type": "eval", "id": "r"}, "r", None),
        ({"type": "eval", "id": ""}, None, None),
        (None, None, None),
    ],
)
def test_run_and_step(run: Any, run_id: str | None, step: int | None) -> None:
    assert (row(run=run).run_id, row(run=run).step) == (run_id, step)


@pytest.mark.parametrize(
    ("task", "task_id"),
    [
        ({"data": {"id": "i", "idx": 1}, "key": "k"}, "i"),
        ({"data": {"id": None, "idx": 1}, "key": "k"}, "k"),
        ({"data": {"idx": 1}}, "1"),
        ({"data": {"idx": True}}, None),
        ({"data": {"id": 5}}, None),
        ({}, None),
    ],
)
def test_task_id(task: Any, task_id: str | None) -> None:
    assert row(task=task).task_id == task_id


def test_model_and_texts() -> None:
    assert row(agent={"config": {"model": "configured"}}).model_id == "configured"
    assert row(agent={"config": {"model": {}}}, calls=[{"model": None}, {"model": "called"}]).model_id == "called"
    assert row(agent={"name": "n" * 10_000}).agent_name == "n" * MAX_TEXT_CHARS


def test_duration() -> None:
    assert row(timing={"start": 10.0, "agent": {"start": 11.0, "end": 12.5}}).duration_ms == 2500
    assert row(timing={"start": 10.0}, calls=[{"time": {"start": 11.0, "end": 13.0}}]).duration_ms == 3000
    assert row(timing={"start": 10.0, "agent": {"start": 0.0, "end": 0.0}}).duration_ms == 0
    assert row(timing={"start": 0.0, "agent": {"end": 1.7e9}}).duration_ms == 0
    assert row(timing={"start": -1e300, "agent": {"end": 1e300}}).duration_ms == 3_200_000_000_000
