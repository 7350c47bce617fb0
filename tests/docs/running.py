"""Run a page's examples: in a process of their own, against a real receiver, in a home of their own."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.docs.markdown import Block, fenced_blocks
from uploader.receiver import ReceiverProcess

CHILD = Path(__file__).with_name("child.py")
KEY = "key-of-the-examples"
_TIMEOUT_S = 200.0
_THE_USERS_OWN = ("PRIME_", "UPLOADER_", "XDG_", "WANDB_", "AWS_", "RANK", "DP_RANK", "COLUMNS", "FORCE_COLOR")
"""How the names of variables begin that a developer may have set, and an example must not see."""


def kind_of(block: Block) -> str | None:
    """How a block is run (see `child.py`); None if it is not.

    Every Python block is run. A console block is where it is marked `run`.
    """
    if block.language == "console":
        return "console" if "run" in block.marks else None
    return block.language if block.language in ("python", "output") else None


def has_examples(page: Path) -> bool:
    """Whether a page has a block that is run."""
    return any(map(kind_of, fenced_blocks(page.read_text(encoding="utf-8"))))


def run_page(page: Path, folder: Path, then: str = "") -> None:
    """Run all examples of a page, in order, beside a receiver of their own.

    Args:
        page: the Markdown file.
        folder: an empty one, for all that they write.
        then: Python code that runs behind them, in their namespace.

    Raises:
        AssertionError: one failed; the message has the output of all.
    """
    with ReceiverProcess(folder / "received", KEY) as receiver:
        run_blocks(page, folder, receiver.url, then)


def run_blocks(page: Path, folder: Path, url: str, then: str = "") -> None:
    """Run all examples of a page beside the receiver at an address; as `run_page`."""
    text = page.read_text(encoding="utf-8")
    blocks = [(kind, block.line, block.source) for block in fenced_blocks(text) if (kind := kind_of(block))]
    home = folder / "home"
    home.mkdir()
    ran = subprocess.run(
        [sys.executable, "-P", "-W", "error", CHILD],
        input=json.dumps({"page": str(page), "blocks": [*blocks, ("python", 1, then)]}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        cwd=home,
        env=_environment(home, url, _programs(folder / "bin")),
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, f"{page}\n{ran.stdout}"


def _environment(home: Path, url: str, programs: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_THE_USERS_OWN)}
    own = {"PRIME_TRACES_URL": url, "PRIME_API_KEY": KEY, "WANDB_MODE": "offline", "PYTHONIOENCODING": "utf-8"}
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    return {**kept, **own, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": path}


def _programs(folder: Path) -> Path:
    """A folder with the commands that pages use: those of this interpreter, wherever it is installed."""
    folder.mkdir()
    python = shlex.quote(sys.executable)
    for name, command in {"python": python, "uploader": f"{python} -P -m uploader"}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder
