import pytest

from uploader.delivery.backoff import failure_pause_s, refusal_pause_s


def test_pauses_after_failures_double_up_to_the_longest() -> None:
    assert [failure_pause_s(failures, 0.5) for failures in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


def test_pauses_after_refusals_grow_a_little_and_after_many_of_them_up_to_the_longest() -> None:
    pauses = {failures: refusal_pause_s(failures, None, 0.5) for failures in (1, 2, 3, 60, 61, 62, 117, 118, 119)}
    assert pauses == {1: 0.5, 2: 1, 3: 1, 60: 1, 61: 1.5, 62: 2, 117: 29.5, 118: 30, 119: 30}


def test_ten_thousand_failures_are_no_overflow() -> None:
    assert failure_pause_s(10_000, 0.5) == refusal_pause_s(10_000, None, 0.5) == 30.0


@pytest.mark.parametrize(("jitter", "delay_s"), [(0.0, 4.0), (0.5, 8.0), (0.75, 10.0)])
def test_jitter_spreads_a_pause_around_its_middle(jitter: float, delay_s: float) -> None:
    assert failure_pause_s(4, jitter) == delay_s
    assert refusal_pause_s(74, None, jitter) == delay_s


@pytest.mark.parametrize(("jitter", "delay_s"), [(0.0, 8.0), (0.5, 9.0)])
def test_a_pause_that_was_asked_for_is_never_shorter(jitter: float, delay_s: float) -> None:
    assert refusal_pause_s(7, 8.0, jitter) == delay_s


@pytest.mark.parametrize("retry_after_s", [0.0, 0.1])
def test_a_service_that_asks_for_next_to_nothing_is_not_hammered_at(retry_after_s: float) -> None:
    assert [refusal_pause_s(failures, retry_after_s, 0.5) for failures in (1, 2, 80)] == [0.5, 1.0, 11.0]
