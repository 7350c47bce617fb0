"""Errors of the operating system name the path that the caller gave, not the temporary file beside it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let every OSError inside the block be one about `path`.

    Raises:
        OSError: as raised inside, of the same class, with `path` as its only file name.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
