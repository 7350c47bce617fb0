import pytest

from uploader.cli.checking import BadLineError
from uploader.cli.exits import HELP, Exit, exit_for, worst
from uploader.errors import (
    APITimeoutError,
    MissingAPIKeyError,
    RetryableAPIError,
    TransportError,
    UnauthorizedError,
    ValidationRejectedError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadLineError("file", 1, "reason"), 1),
        (ValidationRejectedError("message"), 1),
        (UnauthorizedError("message"), 1),
        (OSError("message"), 1),
        (MissingAPIKeyError(), 2),
        (TransportError("message"), 3),
        (APITimeoutError("message"), 3),
        (RetryableAPIError("message", status_code=503), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_has_its_code(error: BaseException, code: int) -> None:
    assert exit_for(error) == code


def test_the_worst_of_several_counts() -> None:
    assert worst([]) is Exit.DONE
    assert worst([Exit.DONE, Exit.REFUSED, Exit.DONE]) is Exit.REFUSED
    assert worst([Exit.REFUSED, Exit.UNREACHABLE]) is Exit.UNREACHABLE
    assert worst([Exit.UNREACHABLE, Exit.INTERRUPTED]) is Exit.INTERRUPTED


def test_help_names_every_code() -> None:
    for code in Exit:
        assert f"{code.value} " in HELP
