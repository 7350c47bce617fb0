"""Write docs/commands.md from what the commands say of themselves: `python -m tests.docs.commands`, or `tox -e docs`.

What is read is how the commands are declared, not how a release of typer, rich or Python lays out their help.
"""

import argparse
import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final

import typer.main
from typer.models import ArgumentInfo, OptionInfo

from encoder.__main__ import _parser as encoder_parser
from tests.conftest import ROOT
from uploader.cli.app import app
from uploader.cli.exits import Exit
from uploader.receiver.command import new_parser as receiver_parser

PAGE: Final = ROOT / "docs" / "commands.md"

_INTRODUCTION: Final = """\
# Commands

This page is written by `tox -e docs` from what the commands say of themselves: change it there.

The extra `cli` brings `uploader`, also as `python -m uploader`; `serve` and `quickstart` need the extra `receiver`,
too, and `python -m uploader.receiver` that one alone. Each command tells of itself with `--help`. `uploader --version`
prints the version. Of the benchmarks and the load test [benchmarks/README.md](../benchmarks/README.md) tells.
"""

EXIT_CODES: Final = {
    Exit.DONE: "all done",
    Exit.REFUSED: "something was refused or lost: the output names the file, the line and the reason",
    Exit.USAGE: "usage, or a setting that cannot be used; nothing was done",
    Exit.UNREACHABLE: 'the service is unreachable, or answered "later" to every attempt: run the same command again',
    Exit.INTERRUPTED: "Ctrl-C: requests in flight end, the receipts so far are printed",
}

_LARGEST_PORT: Final = 65_535
_DEFAULT_IN_HELP: Final = re.compile(r" \(default: ([^()]*)\)$")
_METAVARS: Final = {Path: "PATH", int: "N", str: "TEXT", bool: ""}


@dataclass(frozen=True)
class Parameter:
    """An argument or an option.

    Attributes:
        usage: how it is written, like `--url TEXT`.
        help: what it is for.
        default: what it is when left out; empty for nothing.
    """

    usage: str
    help: str
    default: str = ""


@dataclass(frozen=True)
class Command:
    """A command, as it is typed."""

    name: str
    help: str
    arguments: list[Parameter] = field(default_factory=list)
    options: list[Parameter] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """The first line of its help."""
        return self.help.partition("\n")[0]


def all_commands() -> list[Command]:
    """Every command of the project."""
    return [
        *typer_commands(typer.main.get_group(app), "uploader"),
        argparse_command(receiver_parser(), "python -m uploader.receiver"),
        *argparse_commands(encoder_parser(), "python -m encoder"),
    ]


def typer_commands(group: Any, name: str) -> Iterator[Command]:
    """The commands of a group, those of the groups in it included."""
    for word, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from typer_commands(each, f"{name} {word}")
        else:
            yield _typer_command(f"{name} {word}", each)


def _typer_command(name: str, declared: Any) -> Command:
    function = inspect.unwrap(declared.callback)
    command = Command(name, inspect.getdoc(function) or "")
    annotations = typing.get_type_hints(function, include_extras=True)
    for each in declared.params:
        if each.name not in annotations:  # --help
            continue
        kind, info = typing.get_args(annotations[each.name])
        default = "required" if each.required else _default(each.default, info)
        if isinstance(info, OptionInfo):
            usage = f"{', '.join([*each.opts, *each.secondary_opts])} {_metavar(kind, info)}".strip()
            command.options.append(Parameter(usage, (info.help or "") + _limits(info), default))
        else:
            more = "…" if typing.get_origin(_plain(kind)) is list else ""
            command.arguments.append(Parameter(_metavar(kind, info) + more, info.help or "", default))
    return command


def _plain(kind: Any) -> Any:
    """A type without its `| None`."""
    kinds = [each for each in typing.get_args(kind) if each is not type(None)]
    return kinds[0] if type(None) in typing.get_args(kind) else kind


def _metavar(kind: Any, info: OptionInfo | ArgumentInfo) -> str:
    plain = _plain(kind)
    if info.metavar:
        return str(info.metavar)
    if isinstance(plain, type) and issubclass(plain, Enum):
        return "|".join(str(each.value) for each in plain)
    return _METAVARS[plain]


def _limits(info: OptionInfo) -> str:
    if info.max is not None:
        return f" From {_number(info.min or 0)} to {_number(info.max)}."
    return f" At least {_number(info.min)}." if info.min else ""


def _default(value: Any, info: OptionInfo | ArgumentInfo) -> str:
    if isinstance(info.show_default, str):
        return info.show_default
    if value is None or value is False:
        return f"`{info.envvar}`" if info.envvar else ""
    if isinstance(value, Enum):
        return str(value.value)
    return _number(value) if isinstance(value, int) else str(value)


def _number(value: float) -> str:
    """A number: a port as it is typed, a number of bytes as it is read."""
    return f"{value:,}" if value > _LARGEST_PORT else str(value)


def argparse_commands(parser: argparse.ArgumentParser, name: str) -> Iterator[Command]:
    """The commands below an argparse parser."""
    for group in parser._subparsers._group_actions if parser._subparsers else ():
        assert isinstance(group, argparse._SubParsersAction)
        for word, inner in group.choices.items():
            yield argparse_command(inner, f"{name} {word}")


def argparse_command(parser: argparse.ArgumentParser, name: str) -> Command:
    """The command that an argparse parser reads."""
    command = Command(name, "\n\n".join(filter(None, [parser.description, parser.epilog])))
    for action in parser._actions:
        if action.dest == "help":
            continue
        help_text, default = _without_default(action)
        usage = f"{', '.join(action.option_strings)} {action.metavar or ''}".strip()
        kept = command.options if action.option_strings else command.arguments
        kept.append(Parameter(usage, help_text, default))
    return command


def _without_default(action: argparse.Action) -> tuple[str, str]:
    """The help of an argument, and its default, which may stand at the end of the help in other words."""
    plain = "required" if action.required and action.option_strings else str(action.default or "")
    text = (action.help or "").replace("%(default)s", plain)
    said = _DEFAULT_IN_HELP.search(text)
    if said is None:
        return text.removesuffix(f" ({plain})"), plain
    default = said[1]
    return text[: said.start()], f"`{default[1:]}`" if default.startswith("$") else default


def page() -> str:
    """The whole page."""
    commands = all_commands()
    index = [[f"[`{each.name}`](#{each.name.replace(' ', '-').replace('.', '')})", each.summary] for each in commands]
    codes = [[str(code.value), meaning] for code, meaning in EXIT_CODES.items()]
    parts = [_INTRODUCTION, _table(["command", "what it does"], index)]
    parts += ["## Exit codes\n\nOf `uploader` and all its commands:\n", _table(["exit code", "meaning"], codes)]
    for command in commands:
        parts += [f"## {command.name}\n", f"    {_usage(command)}\n", f"{command.help}\n"]
        rows = [[f"`{each.usage}`", each.help, each.default] for each in [*command.arguments, *command.options]]
        parts.append(_table(["", "meaning", "default"], rows))
    return "\n".join(parts)


def _usage(command: Command) -> str:
    words = [command.name, "[OPTIONS]" if command.options else "", *(each.usage for each in command.arguments)]
    return " ".join(filter(None, words))


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in cells)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
