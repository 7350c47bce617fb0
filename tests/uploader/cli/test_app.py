"""The command line as a whole, and what the documentation says of it."""

import subprocess
import sys
from importlib.metadata import version

import pytest
import typer.core
import typer.main

from tests.conftest import ROOT
from tests.uploader.cli.conftest import Command
from uploader.cli.app import app
from uploader.cli.exits import Exit

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
GROUP = typer.main.get_group(app)
SPOOL = GROUP.commands["spool"]
assert isinstance(SPOOL, typer.core.TyperGroup)
ALL = {
    **{name: command for name, command in GROUP.commands.items() if command is not SPOOL},
    **{f"spool {name}": command for name, command in SPOOL.commands.items()},
}
COMMANDS = sorted(ALL)


def test_the_commands() -> None:
    assert COMMANDS == [
        "convert",
        "pull",
        "quickstart",
        "serve",
        "spool export",
        "spool list",
        "spool purge",
        "spool resume",
        "spool show",
        "upload",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_documentation_has_every_command_and_option(name: str) -> None:
    assert f"uploader {name}" in PAGE
    for parameter in ALL[name].params:
        for option in [*parameter.opts, *parameter.secondary_opts]:
            if option.startswith("--"):
                assert option in PAGE, f"{option} of {name}"


def test_the_documentation_has_every_exit_code() -> None:
    for code in Exit:
        assert f"| {code.value} |" in PAGE


@pytest.mark.parametrize("name", COMMANDS)
def test_help(command: Command, name: str) -> None:
    ran = command(*name.split(), "--help")
    assert ran.code == 0
    assert "Exit codes" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_version(command: Command) -> None:
    ran = command("--version")
    assert ran.code == 0
    try:
        assert version("unstall") in ran.out
    except ImportError:
        assert "not installed" in ran.out


def test_no_command_shows_help_and_an_unknown_one_is_usage(command: Command) -> None:
    ran = command()
    assert "quickstart" in ran.out + ran.err
    assert command("unknown").code == 2


def test_as_a_module() -> None:
    command = [sys.executable, "-P", "-m", "uploader", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.startswith("uploader ")


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("typer", ["--version"], "cli"),
        ("rich", ["--version"], "cli"),
        ("msgspec", ["--version"], "cli"),
        ("uvicorn", ["serve", "--data-dir", "unused"], "receiver"),
        ("starlette", ["quickstart"], "receiver"),
    ],
)
def test_a_missing_extra_is_named(missing: str, arguments: list[str], extra: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = {arguments!r}\n"
    code += "from uploader.__main__ import main; sys.exit(main())"
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 2
    assert f"{missing} is missing: pip install 'unstall[{extra}]'" in ran.stderr
