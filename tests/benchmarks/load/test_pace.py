from benchmarks.load.pace import Pace


def test_each_comes_when_those_before_have_had_their_time() -> None:
    pace = Pace(10.0, 100.0)
    assert pace.wait_s(5, 100.0) == 0.0
    assert pace.wait_s(20, 100.0) == 0.5
    assert pace.wait_s(1, 101.0) == 1.5


def test_who_is_late_catches_up() -> None:
    pace = Pace(10.0, 0.0)
    assert [pace.wait_s(10, 5.0) for _ in range(7)] == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def test_as_fast_as_they_are_taken() -> None:
    pace = Pace(None, 0.0)
    assert [pace.wait_s(1_000_000, 0.0) for _ in range(3)] == [0.0] * 3
