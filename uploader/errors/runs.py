"""What can go wrong with a run."""

from uploader.errors.base import UploaderError


class RunError(UploaderError):
    """A run with `on_error="raise"` lost something, or could not be opened or closed on the platform.

    Attributes:
        run_id: which run.
        reason: what went wrong.
    """

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(run_id, reason)
        self.run_id = run_id
        self.reason = reason

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.reason}"


class RunFinishedError(RunError):
    """Something was logged to a run that has ended."""
