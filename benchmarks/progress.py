"""Tell on the terminal what is being measured, while pytest captures all else."""

import sys
import time
from typing import Final

import pytest

_PERIOD_S: Final = 10.0


class Progress:
    """Says what a long benchmark is at: on a terminal in one line that changes, elsewhere a line now and then."""

    def __init__(self, config: pytest.Config) -> None:
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._writer = config.get_terminal_writer()
        self._next_s = time.monotonic() + _PERIOD_S

    def __call__(self, message: str) -> None:
        """Show a message."""
        with self._capture.global_and_fixture_disabled():
            if sys.stdout.isatty():
                self._writer.write(f"\r\x1b[2K  {message[:76]}\r")
            elif time.monotonic() >= self._next_s:
                self._writer.write(f"\n  ... {message}")
                self._next_s = time.monotonic() + _PERIOD_S
            self._writer.flush()
