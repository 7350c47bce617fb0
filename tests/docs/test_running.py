"""The harness itself: what it runs, and that it sees what is wrong."""

from pathlib import Path

import pytest

from tests.docs.child import PageError, commands, matches
from tests.docs.markdown import fenced_blocks
from tests.docs.running import kind_of, run_blocks, run_page

FENCE = "```"


def written(folder: Path, *blocks: tuple[str, str]) -> Path:
    path = folder / "page.md"
    path.write_text("".join(f"Some text.\n\n{FENCE}{words}\n{source}\n{FENCE}\n\n" for words, source in blocks))
    return path


def test_blocks_share_a_namespace_a_home_and_a_receiver(tmp_path: Path) -> None:
    page = written(
        tmp_path,
        ("python", "from uploader import TracesClient\nwith TracesClient() as client:\n    page = client.list_runs()"),
        ("python", "import asyncio\nfrom pathlib import Path\nPath('file').write_text('two')\nawait asyncio.sleep(0)"),
        ("python", "print(len(page.items), Path('file').read_text())"),
        ("output", "0 …"),
        ("console run", "$ echo one \\\n  >> file\n$ cat file\ntwo…e\n$ uploader spool list\nnothing in …"),
        ("console", "$ exit 1"),
        ("text", "is not run"),
    )
    run_page(page, tmp_path, "assert Path('file').read_text() == 'twoone\\n'\nassert __name__ == '__main__'")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (("python", "def f():\n    1 / 0\nf()"), "    1 / 0"),
        (("python", "import warnings\nwarnings.warn('old')"), "UserWarning: old"),
        (("python", "async def f(): ...\nf()"), "never awaited"),
        (("output", "this"), "this is shown"),
        (("console run", "$ true\n$ exit 3"), "ended with 3"),
        (("console run", "$ echo this\nthat"), "instead of"),
        (("console run", "echo this"), "begins with a command"),
    ],
)
def test_what_is_wrong_is_seen(block: tuple[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        run_blocks(written(tmp_path, block), tmp_path, "http://127.0.0.1:9")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("expected", "printed", "is_match"),
    [
        ("a\nb\n", "a  \nb\n\n", True),
        ("", "", True),
        ("a", "ab", False),
        ("a…c", "abbbc", True),
        ("a…c", "a\nc", False),
        ("a\n…\nz", "a\nb\nc\nz", True),
        ("a\n…\nz", "a\nz", True),
        ("a\n…\nz", "a\nb", False),
        ("1.0…", "1x0", False),
    ],
)
def test_what_is_shown_and_what_is_printed(expected: str, printed: str, is_match: bool) -> None:
    assert matches(expected, printed) is is_match


def test_commands() -> None:
    assert commands("$ a \\\n  b\n1\n$ c\n") == [("a \\\n  b\n", "1\n"), ("c\n", "")]
    with pytest.raises(PageError):
        commands("a\n")


def test_kinds() -> None:
    text = "\n".join(f"{FENCE}{words}\n{FENCE}" for words in ("python", "console run", "console", "output", "sh", ""))
    assert [kind_of(block) for block in fenced_blocks(text)] == ["python", "console", None, "output", None, None]
