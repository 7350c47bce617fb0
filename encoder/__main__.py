"""The command line: `python -m encoder bench module:object`."""

import argparse
import sys
from collections.abc import Sequence

from encoder.bench import DEFAULT_RUNS, measure, table
from encoder.errors import EncoderError
from encoder.targets import TargetError, load_model

_EXIT_CODES = (
    "exit code: 0; 1 where the model cannot be encoded or the bytes differ; 2 where there is no such model; 130 Ctrl-C"
)
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    options = _parser().parse_args(arguments)
    try:
        measured = measure(load_model(options.target), options.runs, _say)
    except EncoderError as error:
        _say("")
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, TargetError) else 1
    except KeyboardInterrupt:
        _say("")
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    _say("")
    print(table(measured))
    return 0 if measured.is_same else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m encoder", description="Tools around the encoder.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    bench = commands.add_parser(
        "bench",
        help="measure how a model of yours encodes, beside the plain way",
        description="Measure a model's CPU time and the stalls of an event loop meanwhile, beside the plain way.",
        epilog=_EXIT_CODES,
    )
    bench.add_argument("target", metavar="MODULE:OBJECT", help="a pydantic model, or a function that returns one")
    bench.add_argument(
        "--runs", type=_positive, default=DEFAULT_RUNS, metavar="N", help="runs of each way (%(default)s)"
    )
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it must be an integer of 1 or more, not {text!r}")
    return int(text)


def _say(message: str) -> None:
    """Show progress in one line that changes, on a terminal alone."""
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{message[:78]}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
