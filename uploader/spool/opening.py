"""How a folder is entered and left: locked, put in order; removed when nothing is in it."""

from pathlib import Path

from uploader.spool import files
from uploader.spool.locks import FolderLock
from uploader.spool.names import LOCK, REJECTED
from uploader.spool.shelf import Shelf


def take(path: Path, run_id: str, *, make: bool) -> tuple[Shelf, FolderLock]:
    """A folder, locked and put in order.

    Args:
        path: the folder.
        run_id: the run that it belongs to.
        make: whether to make it when it is missing.

    Raises:
        SpoolLockedError: somebody uses it.
        OSError: it cannot be read or written.
    """
    while True:
        if make:
            files.make_folder(path)
        try:
            lock = FolderLock(path)
            break
        except FileNotFoundError:  # its last user has just removed it
            if not make:
                raise
    try:
        return Shelf(path, run_id), lock
    except BaseException:
        lock.release()
        raise


def remove_empty(path: Path) -> None:
    """Remove a folder that holds nothing but its lock, which goes first: whoever waits at it looks again."""
    files.remove_folder(path / REJECTED)
    if set(files.list_folder(path)) <= {LOCK}:
        files.remove(path / LOCK)
        files.remove_folder(path)
