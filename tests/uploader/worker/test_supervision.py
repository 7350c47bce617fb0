"""What escapes a thread is logged and counted, and its work begins again."""

import logging

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S
from uploader.worker.supervision import Supervised


def run(failures: list[BaseException], clean_up: object = None) -> tuple[Supervised, list[BaseException]]:
    cleaned: list[BaseException] = []
    script = iter(failures)

    def work() -> None:
        error = next(script, None)
        if error is not None:
            raise error

    def clean(error: BaseException) -> None:
        cleaned.append(error)
        if isinstance(clean_up, BaseException):
            raise clean_up

    thread = Supervised("worker thread", work, clean)
    thread.start()
    assert thread.ended.wait(TIMEOUT_S)
    return thread, cleaned


@pytest.mark.parametrize("error", [ValueError("a"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), MemoryError()])
def test_anything_is_caught_logged_and_counted(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    thread, cleaned = run([error, ValueError("b")])
    assert thread.restarts == 2
    assert cleaned[0] is error
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert "worker thread" in caplog.records[0].getMessage()


def test_a_clean_up_that_fails_does_not_end_it(caplog: pytest.LogCaptureFixture) -> None:
    thread, _ = run([ValueError("a")], SystemExit())
    assert thread.restarts == 1
    assert len(caplog.records) == 2


def test_a_log_handler_that_fails_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("uploader.worker.supervision.logger.error", broken)
    thread, cleaned = run([ValueError("a")])
    assert (thread.restarts, len(cleaned)) == (1, 1)
