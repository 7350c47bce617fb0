"""What can go wrong with batches that are kept on disk."""

from uploader.errors.base import UploaderError


class SpoolError(UploaderError):
    """The spool's disk did not do what was asked; the operating system's error is the `__cause__`.

    Attributes:
        path: the file or folder.
        reason: what went wrong, and what to do.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class SpoolFullError(SpoolError):
    """The spool has no room: its own bound or the disk's floor is reached; sending makes room."""


class SpoolLockedError(SpoolError):
    """Another process uses this folder."""


class DamagedBatchError(SpoolError):
    """A batch's file is not what was written; it has been set aside, and nothing else is affected.

    Attributes:
        num_records: how many records it held; None where that is what was damaged.
    """

    def __init__(self, path: str, reason: str, num_records: int | None) -> None:
        super().__init__(path, reason)
        self.args = (path, reason, num_records)
        self.num_records = num_records

    def __str__(self) -> str:
        records = "an unknown number of" if self.num_records is None else f"{self.num_records:,}"
        return f"{super().__str__()}; it held {records} record{'' if self.num_records == 1 else 's'}"
