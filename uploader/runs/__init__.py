"""Runs: their identity, how they are opened and closed on the platform, their metrics."""

from uploader.runs.report import RunReport
from uploader.runs.run import Run
from uploader.runs.start import init

__all__ = ["Run", "RunReport", "init"]
