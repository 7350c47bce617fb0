"""The root of all errors, and what can be wrong with settings and options."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uploader.errors.records import RecordFailure
    from uploader.models import Batch, UploadReceipt


class UploaderError(Exception):
    """The root of every error that `uploader` raises on purpose.

    Attributes:
        receipts: what an upload had committed when this error ended it, in batch order.
        batch: the batch that failed, None when the error is not about one.
        record_errors: why records were set aside before this error, those that no `on_record_error` was told of; the
            error of a single record does not hold itself.
    """

    receipts: "tuple[UploadReceipt, ...]" = ()
    batch: "Batch | None" = None
    record_errors: "tuple[RecordFailure, ...]" = ()


class ConfigurationError(UploaderError, ValueError):
    """An option has a value that cannot be used; nothing was done.

    Attributes:
        option: the option's name, like `compress`.
        reason: what is wrong with its value, and what to give instead.
    """

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(option, reason)
        self.option = option
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.option}: {self.reason}"


class MissingAPIKeyError(ConfigurationError):
    """There is no API key, so no request was made."""

    def __init__(
        self,
        option: str = "api_key",
        reason: str = "no API key: pass api_key, set PRIME_API_KEY, or put it into ~/.prime/config.json",
    ) -> None:
        super().__init__(option, reason)
