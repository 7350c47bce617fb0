"""`python -m uploader.receiver`: the receiver without the command line extra."""

import sys
from typing import Final

_EXTRA: Final = frozenset({"msgspec", "python_multipart", "starlette", "uvicorn"})
"""What the `receiver` extra brings."""
_USAGE: Final = 2


def main(arguments: list[str] | None = None) -> None:
    """Serve as a command line says, by default the process's.

    Raises:
        SystemExit: the exit code: 2 for usage or a missing extra, 1 when it cannot be served.
    """
    try:
        from uploader.receiver.command import run
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        print(f"python -m uploader.receiver: {missing} is missing: pip install 'unstall[receiver]'", file=sys.stderr)
        sys.exit(_USAGE)
    run(arguments)


if __name__ == "__main__":
    main()
