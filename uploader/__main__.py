"""The `uploader` command, also as `python -m uploader`."""

import sys

_EXTRA = frozenset({"click", "msgspec", "rich", "typer"})
"""What the `cli` extra brings."""

USAGE = 2
INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from uploader.cli.app import run
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        print(f"uploader: {missing} is missing: pip install 'unstall[cli]'", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
