import pytest

from uploader.delivery.health import DOWN, SILENT_S, Health

ERROR = RuntimeError("no answer")


def test_it_is_down_after_several_failures_and_up_with_the_first_success(caplog: pytest.LogCaptureFixture) -> None:
    health = Health("store")
    told = [health.failed(ERROR, failures, 1.0) for failures in range(1, DOWN + 3)]
    assert told == [False] * (DOWN - 1) + [True, False, False]
    assert (health.is_down, health.reason, health.is_failing(0.0)) == (True, "no answer", True)
    assert caplog.text.count("takes no batches") == 1
    health.stored()
    assert not health.is_down
    assert not health.is_failing(0.0)
    assert health.failed(ERROR, DOWN, 1.0)


def test_an_error_without_words_is_named() -> None:
    health = Health("store")
    health.failed(TimeoutError(), 1, 1.0)
    assert health.reason == "TimeoutError"


def test_one_that_says_nothing_for_long_is_failing() -> None:
    health = Health("store")
    assert not health.is_failing(1e9)  # it was asked nothing
    health.asked(100.0)
    health.asked(100.0 + SILENT_S / 2)  # another one changes nothing
    assert not health.is_failing(100.0 + SILENT_S - 1)
    assert health.is_failing(100.0 + SILENT_S)
    health.heard(100.0 + SILENT_S, waits_still=True)
    assert not health.is_failing(100.0 + SILENT_S)
    assert health.is_failing(100.0 + 2 * SILENT_S)
    health.heard(200.0, waits_still=False)
    assert not health.is_failing(1e9)
