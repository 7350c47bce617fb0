from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.retry import RetryPolicy, retry_after_seconds

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


def delays(policy: RetryPolicy, jitter: float = 0.5, retry_after_s: float | None = None) -> list[float]:
    found = []
    while (retry := policy.after_failure(retry_after_s, jitter)) is not None:
        found.append(retry.delay_s)
        policy = retry.policy
    return found


def test_five_attempts_have_four_doubling_delays_between_them() -> None:
    assert delays(RetryPolicy()) == [1, 2, 4, 8]


def test_the_delay_stops_growing() -> None:
    assert delays(RetryPolicy(max_attempts=9)) == [1, 2, 4, 8, 16, 30, 30, 30]


def test_the_policy_itself_does_not_change() -> None:
    policy = RetryPolicy()
    assert policy.after_failure(None, 0.5) == policy.after_failure(None, 0.5)
    assert policy == RetryPolicy()


def test_one_attempt_is_never_repeated() -> None:
    assert delays(RetryPolicy(max_attempts=1)) == []


def test_what_the_service_asks_for_wins() -> None:
    assert delays(RetryPolicy(), retry_after_s=7.5) == [7.5] * 4
    assert delays(RetryPolicy(), retry_after_s=0) == [0] * 4
    assert delays(RetryPolicy(), retry_after_s=3600) == [60] * 4


@given(
    max_attempts=st.integers(1, 3000),
    jitter=st.floats(0, 1, exclude_max=True),
    failures=st.integers(0, 3000),
)
def test_back_off_stays_within_its_bounds(max_attempts: int, jitter: float, failures: int) -> None:
    retry = RetryPolicy(max_attempts=max_attempts, failures=failures).after_failure(None, jitter)
    if failures + 1 >= max_attempts:
        assert retry is None
        return
    assert retry is not None
    middle = min(30.0, 2.0 ** min(failures, 10))
    assert middle * 0.5 <= retry.delay_s <= middle * 1.5
    assert retry.policy.failures == failures + 1


@given(st.integers(0, 10**400) | st.floats(0, 1e300).map(lambda value: f"{value:f}"))
def test_seconds(value: object) -> None:
    found = retry_after_seconds(str(value), NOW)
    assert found == min(float(str(value)), 60.0)


@given(st.integers(-(10**6), 10**6))
def test_dates(offset_s: int) -> None:
    header = format_datetime(NOW + timedelta(seconds=offset_s), usegmt=True)
    assert retry_after_seconds(header, NOW) == min(max(offset_s, 0), 60)


def test_a_date_of_an_unknown_place_is_in_utc() -> None:
    assert retry_after_seconds("Mon, 04 May 2026 12:00:09 -0000", NOW) == 9


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ [A-Z+\-0-9]+"))
def test_nonsense_never_raises_nor_leaves_the_bounds(value: str) -> None:
    found = retry_after_seconds(value, NOW)
    assert found is None or 0 <= found <= 60


@pytest.mark.parametrize("value", [None, "", "soon", "-5", "nan", "inf", "1e3", "٣"])
def test_unusable_values(value: str | None) -> None:
    assert retry_after_seconds(value, NOW) is None
