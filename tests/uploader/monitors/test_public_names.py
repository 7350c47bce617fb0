"""What `uploader.monitors` offers, pinned; and that it stays light."""

import subprocess
import sys

from uploader import monitors

NAMES = {
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
}


def test_the_names() -> None:
    assert set(monitors.__all__) == NAMES
    assert all(getattr(monitors, name) is not None for name in NAMES)


def test_importing_stays_light() -> None:
    script = "import sys, uploader.monitors; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"wandb", "backports.zstd", "compression.zstd", "obstore", "starlette"}
