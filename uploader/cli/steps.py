"""Progress for work whose stalls are being measured: one short write a step, and no thread that draws.

A bar that redraws itself ten times a second would hold the GIL for milliseconds, and be measured too.
"""

from typing import Final

from rich.console import Console

_BAR_WIDTH: Final = 30


class Steps:
    """Shows how many of a number of steps are done."""

    def __init__(self, console: Console) -> None:
        self._file = console.file
        self._is_terminal = console.is_terminal
        self._label: str | None = None

    def show(self, label: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `label` are done."""
        if not self._is_terminal:
            if done >= total:
                self._write(f"{label}: {done} of {total}\n")
            return
        new_line = "\n" if self._label not in (None, label) else ""
        self._label = label
        self._write(f"{new_line}\r{bar_line(label, done, total)}")

    def end(self) -> None:
        """Leave the line of the bar."""
        if self._is_terminal and self._label is not None:
            self._write("\n")
            self._label = None

    def _write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()


def bar_line(label: str, done: int, total: int) -> str:
    """A bar in text, always of the same width for the same total."""
    filled = _BAR_WIDTH * done // total if total else _BAR_WIDTH
    return f"{label:<24} {'█' * filled}{'░' * (_BAR_WIDTH - filled)} {done:>{len(str(total))}}/{total}"
