"""What can go wrong with a store: an object store, or a folder that sealed batches are kept in."""

from uploader.errors.base import UploaderError


class StoreError(UploaderError):
    """A store did not do what was asked, and may another time; what the store said is the `__cause__`.

    Attributes:
        place: the store's address.
        reason: what went wrong.
        status_code: the HTTP status, None when there was none.
    """

    def __init__(self, place: str, reason: str, *, status_code: int | None = None) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason
        self.status_code = status_code

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class StoreBusyError(StoreError):
    """429 or 503: the store asks for fewer requests, and did nothing."""


class StoreRefusedError(StoreError):
    """The store takes nothing from these credentials, or from this user: correct them and send again."""
