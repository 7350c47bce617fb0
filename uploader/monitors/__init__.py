"""Monitors: what an orchestrator logs on its event loop, to several places, without feeling it.

>>> from uploader.monitors import FileMonitor, UploadMonitor, finalize, log, setup
>>> setup(UploadMonitor(name="qwen3-gsm8k", kind="train"), FileMonitor("outputs"))
>>> await log(episode, step=3)            # returns once it is queued
>>> await log({"loss": 0.25}, step=3)
>>> await finalize()

`log` and `finalize` raise nothing: what goes wrong is logged once for each kind, counted, and visible in `stats()`.
"""

from uploader.monitors.base import Monitor
from uploader.monitors.data import Kind, Subset, Where
from uploader.monitors.file import FileMonitor, FileStats
from uploader.monitors.group import MonitorGroup
from uploader.monitors.registry import finalize, log, setup, stats
from uploader.monitors.stats import GroupStats, MonitorStats
from uploader.monitors.upload import UploadMonitor, UploadStats
from uploader.monitors.wandb_monitor import WandbMonitor, WandbStats

__all__ = [
    "FileMonitor",
    "FileStats",
    "GroupStats",
    "Kind",
    "Monitor",
    "MonitorGroup",
    "MonitorStats",
    "Subset",
    "UploadMonitor",
    "UploadStats",
    "WandbMonitor",
    "WandbStats",
    "Where",
    "finalize",
    "log",
    "setup",
    "stats",
]
