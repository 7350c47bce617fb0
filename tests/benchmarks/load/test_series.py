from hypothesis import given
from hypothesis import strategies as st

from benchmarks.load.series import Merge, Series, last

MERGES: dict[str, Merge] = {"seconds": last, "worst": max}


def filled(values: list[float], most: int) -> dict[str, list[float]]:
    series = Series(MERGES, most)
    for number, value in enumerate(values):
        series.add({"seconds": float(number), "worst": value})
    return series.columns()


@given(values=st.lists(st.floats(0, 100), min_size=1, max_size=300), half=st.integers(1, 10))
def test_there_are_never_too_many_rows_and_nothing_is_missed(values: list[float], half: int) -> None:
    columns = filled(values, 2 * half)
    assert 1 <= len(columns["seconds"]) <= 2 * half
    assert columns["seconds"] == sorted(columns["seconds"])
    assert columns["seconds"][-1] == len(values) - 1
    begin = 0
    for seconds, worst in zip(columns["seconds"], columns["worst"], strict=True):
        end = int(seconds) + 1
        assert worst == max(values[begin:end])
        begin = end


def test_few_rows_are_kept_as_they_are() -> None:
    assert filled([3.0, 1.0, 2.0], 10) == {"seconds": [0.0, 1.0, 2.0], "worst": [3.0, 1.0, 2.0]}


def test_neighbours_become_one_when_it_is_full() -> None:
    assert filled([3.0, 1.0, 2.0, 5.0, 4.0], 4) == {"seconds": [1.0, 3.0, 4.0], "worst": [3.0, 5.0, 4.0]}


def test_asking_changes_nothing() -> None:
    series = Series(MERGES, 2)
    for number in range(5):
        series.add({"seconds": number, "worst": 1.0})
        assert series.columns() == series.columns()
