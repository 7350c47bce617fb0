"""Metrics that are NaN or infinite: each is named once."""

import math
import threading

import numpy as np
import pytest

from uploader.runs import non_finite
from uploader.runs.metrics import plain
from uploader.runs.non_finite import NON_FINITE, NonFinite, without_non_finite


@pytest.fixture(autouse=True)
def nothing_told() -> None:
    NON_FINITE.forget()


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage().partition("left out: ")[2].partition(";")[0] for record in caplog.records]


def test_one_warning_names_all_of_a_row(caplog: pytest.LogCaptureFixture) -> None:
    row = {"a": math.nan, "b": {"c": math.inf, "d": 1}, "e": [1.0, -math.inf], "f": np.float32("nan"), "g": 2.0}
    assert plain(row) == {"b": {"d": 1}, "e": [1.0], "g": 2.0}
    assert plain(row) == {"b": {"d": 1}, "e": [1.0], "g": 2.0}
    assert plain({"a": math.nan, "h": math.nan}) == {}
    assert told(caplog) == ["a, b.c, e, f", "h"]


def test_floats_alone_are_looked_at_where_time_is_short(caplog: pytest.LogCaptureFixture) -> None:
    deep = [math.nan]
    values = {"a": math.nan, "b": np.float16("inf"), "c": np.float64(1.5), "d": deep, 5: -math.inf, "t": "nan"}
    assert without_non_finite(values) == {"c": 1.5, "d": deep, "t": "nan"}  # type: ignore[arg-type]
    finite = {"x": 1.0}
    assert without_non_finite(finite) == finite
    assert without_non_finite(finite) is not finite
    assert told(caplog) == ["a, b, 5"]


def test_of_several_threads_one_says_it(caplog: pytest.LogCaptureFixture) -> None:
    names = [f"m{number}" for number in range(200)]
    together, warnings = threading.Barrier(4), NonFinite()

    def warn() -> None:
        together.wait()
        warnings.warn(names)

    threads = [threading.Thread(target=warn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for text in told(caplog) for name in text.split(", ")) == sorted(names)


def test_names_without_end_are_not_remembered(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(non_finite, "_MAX_NAMES", 2)
    warnings = NonFinite()
    for number in range(5):
        warnings.warn([f"m{number}"])
    assert told(caplog) == ["m0", "m1"]
