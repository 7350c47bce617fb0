import pytest

from uploader.delivery.concurrency import Concurrency

SIZE = 7_000_000


def answer(window: Concurrency, times: int = 1, *, now: float = 0.0, latency_s: float = 1.0, full: bool = True) -> None:
    for _ in range(times):
        window.answered(now, SIZE, latency_s, full=full)


def test_a_window_starts_small_and_grows_by_one_for_each_answer_to_its_most() -> None:
    window = Concurrency(8)
    sizes = []
    for _ in range(8):
        sizes.append(window.limit)
        answer(window)
    assert sizes == [2, 3, 4, 5, 6, 7, 8, 8]


def test_a_window_of_one_request_stays_one() -> None:
    window = Concurrency(1)
    answer(window, 4)
    window.refused(0.0, 1.0, 1.0)
    assert window.limit == 1


def test_a_window_that_was_not_full_does_not_grow() -> None:
    window = Concurrency(8)
    answer(window, 20, full=False)
    assert window.limit == 2


def test_a_refusal_halves_the_window_and_never_below_one() -> None:
    window = Concurrency(8)
    answer(window, 6)
    sizes = []
    for now in (1.0, 2.0, 3.0, 4.0, 5.0):
        window.refused(now - 0.5, now, 1.0)
        sizes.append(window.limit)
    assert sizes == [4, 2, 1, 1, 1]


def test_refusals_of_requests_that_were_under_way_together_count_once() -> None:
    window = Concurrency(8)
    answer(window, 6)
    for now in (1.0, 1.1, 1.2):
        window.refused(0.5, now, 1.0)
    assert window.limit == 4


def test_after_a_refusal_a_whole_window_of_answers_adds_one() -> None:
    window = Concurrency(8)
    answer(window, 6)
    window.refused(0.5, 1.0, 1.0)
    answer(window, 4, now=100.0)
    assert window.limit == 4
    answer(window, now=100.0)
    assert window.limit == 5


def test_a_size_that_was_refused_is_not_tried_again_for_many_pauses() -> None:
    window = Concurrency(8)
    answer(window, 4)
    window.refused(0.0, 1.0, 2.0)
    answer(window, 100, now=32.9)
    assert window.limit == 5
    answer(window, 100, now=33.0)
    assert window.limit == 8


@pytest.mark.parametrize("is_down", [False, True])
def test_only_the_first_refusal_in_a_row_speaks_of_a_size(is_down: bool) -> None:
    window = Concurrency(8)
    answer(window, 6)
    window.refused(0.0, 1.0, 1.0)
    for now in (2.0, 3.0, 4.0):
        if is_down:
            window.failed(now - 0.5, now)
        else:
            window.refused(now - 0.5, now, 1.0)
    assert window.limit == 1
    answer(window, 100, now=4.0)
    assert window.limit == 7


def test_a_window_does_not_grow_while_answers_take_longer_than_they_used_to() -> None:
    window = Concurrency(8)
    answer(window, 50, full=False)
    answer(window, 5, latency_s=5.0)
    before = window.limit
    answer(window, 5, latency_s=5.0)
    assert window.limit == before


def test_a_window_grows_again_once_a_slower_service_is_got_used_to() -> None:
    window = Concurrency(8)
    answer(window, 50, full=False)
    answer(window, 200, latency_s=5.0)
    assert window.limit == 8


@pytest.mark.parametrize("small", [100, 10_000])
def test_answers_are_compared_with_those_of_their_own_size(small: int) -> None:
    window = Concurrency(8)
    for _ in range(50):
        window.answered(0.0, small, 0.05, full=False)
    answer(window, 10)
    assert window.limit == 8


def test_a_failure_halves_the_window_but_holds_it_nowhere() -> None:
    window = Concurrency(8)
    answer(window, 6)
    for now in (1.0, 2.0, 3.0):
        window.failed(now - 0.5, now)
    assert window.limit == 1
    answer(window, 7, now=3.0)
    assert window.limit == 8


def test_a_window_is_held_for_two_minutes_at_most() -> None:
    window = Concurrency(8)
    answer(window, 4)
    window.refused(0.0, 1.0, 60.0)
    answer(window, 100, now=120.9)
    assert window.limit == 5
    answer(window, 100, now=121.0)
    assert window.limit == 8


def test_the_refusal_of_a_single_request_holds_nothing() -> None:
    window = Concurrency(8)
    for now in (1.0, 2.0, 40.0):
        window.refused(now - 0.5, now, 1.0)
    answer(window, 50, now=40.0)
    assert window.limit == 8
