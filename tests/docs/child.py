"""Run the blocks of a page, in order, in this process; it knows nothing of the tests.

Standard input is JSON: `{"page": path, "blocks": [[kind, line, source], ...]}`. Kinds:

- `python`: executed in the page's one namespace, which is that of `__main__`; `await` outside of a function is taken.
- `console`: each line that begins with `$ ` is given to the shell (a backslash at its end goes on with the next line)
  and must succeed. The lines below a command, if any, must be what it prints.
- `output`: what the Python block before it must have printed.

In what is expected `…` stands for anything within a line, and a line of only that for any lines.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import re
import subprocess
import sys
import types
from typing import Any


class PageError(AssertionError):
    """A page promises what does not happen."""


def matches(expected: str, printed: str) -> bool:
    """Whether what was printed is what the page shows; white space at the end of lines does not count."""
    pattern = ""
    for line in _lines(expected):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r".*?".join(map(re.escape, line.split("…"))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(printed))) is not None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def commands(source: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown below it."""
    found: list[tuple[str, str]] = []
    is_open = False
    for line in source.splitlines(keepends=True):
        if is_open:
            found[-1] = (found[-1][0] + line, "")
        elif line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
        else:
            raise PageError("a console block begins with a command: `$ ...`")
        is_open = not found[-1][1] and found[-1][0].endswith("\\\n")
    return found


class Page:
    """A page while its blocks are run."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._main = types.ModuleType("__main__")
        self._printed = ""
        sys.modules["__main__"] = self._main

    def run(self, runner: asyncio.Runner, kind: str, line: int, source: str) -> None:
        """Run one block.

        Raises:
            PageError: the page shows another output, or a command failed.
            BaseException: whatever a Python block raises.
        """
        if kind == "python":
            self._python(runner, line, source)
        elif kind == "console":
            for command, shown in commands(source):
                self._command(line, command, shown)
        elif not matches(source, self._printed):
            raise PageError(f"{self._path}:{line}: this is shown, but\n{self._printed}is printed")

    def _python(self, runner: asyncio.Runner, line: int, source: str) -> None:
        # Line numbers are those of the page, so that a traceback shows its text.
        code = compile(
            "\n" * (line - 1) + source, self._path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        with contextlib.redirect_stdout(io.StringIO()) as caught:
            result: Any = eval(code, self._main.__dict__)  # the code of a whole block, not of an expression
            if inspect.iscoroutine(result):
                runner.run(result)
        self._printed = caught.getvalue()

    def _command(self, line: int, command: str, shown: str) -> None:
        ran = subprocess.run(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        where = f"{self._path}, the block at line {line}: $ {command}"
        if ran.returncode:
            raise PageError(f"{where}ended with {ran.returncode}:\n{ran.stdout}")
        if shown.strip() and not matches(shown, ran.stdout):
            raise PageError(f"{where}printed\n{ran.stdout}instead of\n{shown}")


def main() -> None:
    """Run the page that standard input names."""
    job = json.load(sys.stdin)
    escaped: list[str] = []
    sys.unraisablehook = lambda unraisable: escaped.append(repr(unraisable.exc_value))
    page = Page(job["page"])
    with asyncio.Runner() as runner:
        for kind, line, source in job["blocks"]:
            page.run(runner, kind, line, source)
    if escaped:
        raise PageError(f"{job['page']}: {escaped}")


if __name__ == "__main__":
    main()
