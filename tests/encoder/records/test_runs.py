"""Runs, work and policy spans."""

import pytest
from pydantic import TypeAdapter, ValidationError

from encoder.records import (
    EvalRunInfo,
    EvalWorkInfo,
    PolicySpan,
    RunInfo,
    TrainRunInfo,
    TrainWorkInfo,
    WorkInfo,
)


def test_drift() -> None:
    assert PolicySpan(start=3, end=5).drift == 2
    assert PolicySpan(start=3, end=3).drift == 0


def test_a_span_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValidationError, match="ends at 2, before its start at 3"):
        PolicySpan(start=3, end=2)


def test_runs_and_work_are_told_apart_by_their_type() -> None:
    runs: TypeAdapter[RunInfo] = TypeAdapter(RunInfo)
    work: TypeAdapter[WorkInfo] = TypeAdapter(WorkInfo)
    assert isinstance(runs.validate_python({"type": "eval", "id": "r"}), EvalRunInfo)
    run = runs.validate_python({"type": "train", "id": "r", "work": {"type": "eval", "step": 1}})
    assert run == TrainRunInfo(id="r", work=EvalWorkInfo(step=1))
    assert work.validate_python({"type": "train", "step": 1}) == TrainWorkInfo(step=1)
    with pytest.raises(ValidationError):
        runs.validate_python({"type": "test", "id": "r"})
