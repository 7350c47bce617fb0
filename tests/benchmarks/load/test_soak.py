import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.load.soak import FAULTS, RateProbe, probing_s, schedule, trend

LENGTHS = st.floats(6.0, 3600.0)


@given(soak_s=LENGTHS, seed=st.integers(0, 5))
def test_faults_come_one_after_the_other_and_leave_time_to_catch_up(soak_s: float, seed: int) -> None:
    faults = schedule(soak_s, seed)
    assert {fault.name for fault in faults} == set(FAULTS)
    ends = [0.0, *(fault.at_s + fault.for_s for fault in faults)]
    assert all(end <= fault.at_s for end, fault in zip(ends, faults, strict=False))
    assert ends[-1] <= soak_s + 1e-6
    assert sum(fault.for_s for fault in faults) < 0.13 * soak_s


def test_each_kind_comes_as_often_as_the_others() -> None:
    names = [fault.name for fault in schedule(1200.0)]
    assert len(names) == 20
    assert {names.count(name) for name in FAULTS} <= {2, 3}


def test_the_same_seed_makes_the_same_soak() -> None:
    assert schedule(300.0, 7) == schedule(300.0, 7) != schedule(300.0, 8)


@pytest.mark.parametrize(("soak_s", "found_s"), [(6.0, 3.0), (600.0, 30.0), (1200.0, 60.0), (7200.0, 60.0)])
def test_how_long_it_is_probed(soak_s: float, found_s: float) -> None:
    assert probing_s(soak_s) == found_s


@given(slope=st.integers(-1000, 1000), start=st.integers(0, 10**9), count=st.integers(3, 200))
def test_the_trend_of_a_line_is_its_slope(slope: int, start: int, count: int) -> None:
    seconds = [float(second) for second in range(count)]
    found = trend(seconds, [start + slope * second for second in seconds])
    assert found.bytes_per_s == pytest.approx(slope)
    assert found.growth_bytes == pytest.approx(slope * (count - 1 - int(0.1 * count)))


def test_peaks_that_pass_do_not_tilt_a_trend() -> None:
    values = [100.0] * 100
    values[70:90] = [900.0] * 20
    assert trend(range(100), values).bytes_per_s == 0.0


def test_how_memory_settles_at_first_is_left_out() -> None:
    assert trend(range(100), [*range(10), *[10.0] * 90]).bytes_per_s == 0.0


def test_of_next_to_nothing_there_is_no_trend() -> None:
    assert trend([1.0], [5.0]).growth_bytes == 0.0


def test_the_rate_is_seen_once_it_flows() -> None:
    probe = RateProbe(10.0)
    assert not probe.is_over(5.0, 7, 700)
    assert not probe.is_over(6.0, 8, 800)
    assert not probe.is_over(15.0, 90, 9_000)
    assert probe.is_over(16.0, 100, 10_800)
    assert probe.bytes_per_s == 1_000.0


def test_too_few_episodes_are_waited_for() -> None:
    probe = RateProbe(10.0)
    assert not probe.is_over(1.0, 8, 800)
    assert not probe.is_over(12.0, 15, 1_500)
    assert probe.is_over(21.0, 16, 1_600)
    assert probe.bytes_per_s == 40.0


def test_but_not_for_ever() -> None:
    with pytest.raises(RuntimeError, match="only 3 episodes were delivered in 201 s"):
        RateProbe(10.0).is_over(201.0, 3, 300)
