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
        self._is_line_open = False

    def show(self, label: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `label` are done; a line stays once all are."""
        is_whole = done >= total
        if self._is_terminal:
            self._is_line_open = not is_whole
            self._write(f"\r{bar_line(label, done, total)}" + "\n" * is_whole)
        elif is_whole:
            self._write(f"{label}: {done} of {total}\n")

    def end(self) -> None:
        """Leave the line of a bar that is not whole."""
        if self._is_line_open:
            self._write("\n")
            self._is_line_open = False

    def _write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()


def bar_line(label: str, done: int, total: int) -> str:
    """A bar in text, always of the same width for the same total."""
    filled = _BAR_WIDTH * done // total if total else _BAR_WIDTH
    return f"{label:<24} {'█' * filled}{'░' * (_BAR_WIDTH - filled)} {done:>{len(str(total))}}/{total}"
