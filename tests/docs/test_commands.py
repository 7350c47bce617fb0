"""docs/commands.md is what the commands say of themselves, all of them."""

import argparse
import dataclasses

from tests.docs.commands import (
    EXIT_CODES,
    PAGE,
    Command,
    Parameter,
    all_commands,
    argparse_command,
    argparse_commands,
    page,
)
from uploader.cli.exits import Exit
from uploader.receiver.settings import ReceiverSettings


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: tox -e docs"


def test_every_exit_code_is_explained() -> None:
    assert set(EXIT_CODES) == set(Exit)


def test_what_is_read_of_a_typer_command() -> None:
    (upload,) = (each for each in all_commands() if each.name == "uploader upload")
    (purge,) = (each for each in all_commands() if each.name == "uploader spool purge")
    assert upload.arguments == [Parameter("FILE…", "Files of JSON lines.", "required")]
    assert upload.options[0] == Parameter("--line-format trace|episode", "What one line holds.", "trace")
    assert Parameter("--max-in-flight N", "Requests at once. From 1 to 8.", "8") in upload.options
    assert Parameter("--yes, -y", "Do not ask.") in purge.options


def test_what_is_read_of_an_argparse_command() -> None:
    parser = argparse.ArgumentParser()
    command = parser.add_subparsers().add_parser("do", description="Do it.", epilog="Now.")
    command.add_argument("what", metavar="WHAT", help="the thing")
    command.add_argument("-n", "--times", metavar="N", default=3, help="how often (%(default)s)")
    assert list(argparse_commands(parser, "prog")) == [
        Command(
            "prog do",
            "Do it.\n\nNow.",
            [Parameter("WHAT", "the thing")],
            [Parameter("-n, --times N", "how often", "3")],
        )
    ]


def test_a_default_in_other_words_is_the_default() -> None:
    parser = argparse.ArgumentParser(description="Do it.")
    parser.add_argument("--where", metavar="DIR", required=True, help="a folder")
    parser.add_argument("--port", metavar="N", type=int, default=83, help="a port (0: any) (default: %(default)s)")
    parser.add_argument("--key", metavar="TEXT", help="a key (default: $A_KEY)")
    assert argparse_command(parser, "prog") == Command(
        "prog",
        "Do it.",
        [],
        [
            Parameter("--where DIR", "a folder", "required"),
            Parameter("--port N", "a port (0: any)", "83"),
            Parameter("--key TEXT", "a key", "`A_KEY`"),
        ],
    )


def test_the_receiver_has_an_option_for_each_setting() -> None:
    (receiver,) = (each for each in all_commands() if each.name == "python -m uploader.receiver")
    named = {each.usage.split()[0] for each in receiver.options}
    settings = {f"--{each.name.replace('_', '-')}" for each in dataclasses.fields(ReceiverSettings)}
    assert settings <= named
    assert all(each.help and each.default for each in receiver.options)
    assert (
        Parameter(
            "--workers N", "Uploads checked at once, each with its longest line in memory.", "one a core, 4 at most"
        )
        in receiver.options
    )
