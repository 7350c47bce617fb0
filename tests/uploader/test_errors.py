import inspect
import pickle

import pytest

from uploader import errors
from uploader.errors import APIError, UploaderError
from uploader.models import Batch, UploadReceipt

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, UploaderError)]
MADE = [
    errors.UploaderError("m"),
    errors.ConfigurationError("o", "r"),
    errors.MissingAPIKeyError(),
    errors.RecordError(3, "r"),
    errors.TraceTooLargeError(1, 2, 3),
    errors.RecordsError(()),
    errors.SpoolError("p", "r"),
    errors.SpoolFullError("p", "r"),
    errors.SpoolLockedError("p", "r"),
    errors.DamagedBatchError("p", "r", 3),
    *(cls("p", "r", status_code=503) for cls in CLASSES if issubclass(cls, errors.StoreError)),
    errors.RunError("r", "why"),
    errors.RunFinishedError("r", "why"),
    errors.RedirectError("m", status_code=302, location="https://there"),
    errors.RetryableAPIError("m", status_code=503, code="c", retry_after=1.5),
    *(
        cls("m", status_code=400, code="c")
        for cls in CLASSES
        if issubclass(cls, APIError) and cls not in (errors.RedirectError, errors.RetryableAPIError)
    ),
]


def test_every_class_is_tried_here() -> None:
    assert {type(error) for error in MADE} == set(CLASSES)


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_with_their_facts(error: UploaderError) -> None:
    error.receipts = (UploadReceipt(upload_id="d", status="committed"),)
    error.batch = Batch("d", 1, 2, 3)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_module_draws_the_whole_tree(cls: type[UploaderError]) -> None:
    assert cls.__doc__
    assert cls.__name__ in (errors.__doc__ or "")


def test_an_error_says_what_how_often_and_what_to_do() -> None:
    error = errors.UnauthorizedError("bad key", status_code=401, code="unauthenticated")
    error.attempts = 2
    assert str(error) == "bad key (HTTP 401, unauthenticated, 2 attempts): check the API key (PRIME_API_KEY)"


@pytest.mark.parametrize(
    ("num_records", "said"),
    [(3, "3 records"), (1, "1 record"), (12_345, "12,345 records"), (None, "an unknown number of records")],
)
def test_a_damaged_batch_says_how_many_records_it_held(num_records: int | None, said: str) -> None:
    error = errors.DamagedBatchError("spool/run/batch", "it has 20 bytes, not 100", num_records)
    assert str(error) == f"spool/run/batch: it has 20 bytes, not 100; it held {said}"


def test_a_wrong_line_format_names_the_argument() -> None:
    said = "send episodes with X-Prime-Line-Format: episode"
    error = errors.ValidationRejectedError(f"{said}.", status_code=400, code="line_format_mismatch")
    assert str(error) == (
        f"{said} (HTTP 400, line_format_mismatch): "
        'upload episodes with line_format="episode", traces with line_format="trace" (the default)'
    )
    conflict = errors.LineFormatConflictError("sent as traces", status_code=409)
    assert str(conflict).startswith("sent as traces (HTTP 409): ")
    assert 'line_format="episode"' in str(conflict)
