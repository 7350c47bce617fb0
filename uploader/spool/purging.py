"""Removes what a folder holds, for good."""

from pathlib import Path

from uploader.spool import files, pairs
from uploader.spool.files import translated
from uploader.spool.locks import FolderLock
from uploader.spool.names import REJECTED, UNTOLD_FILES, Role
from uploader.spool.opening import remove_empty
from uploader.spool.scan import RunFolderReport, scan_folder


def purge(path: Path, *, only_rejected: bool = False) -> RunFolderReport:
    """Remove the batches of a run, what its platform was to be told, and its folder if nothing else is in it.

    Args:
        path: the folder.
        only_rejected: leave those that wait.

    Returns:
        What was there before.

    Raises:
        SpoolLockedError: somebody uses the folder.
        SpoolError: something cannot be removed.
    """
    with translated(path):
        lock = FolderLock(path)
        try:
            report = scan_folder(path)
            if not only_rejected:
                _remove_waiting(path)
            _remove_rejected(path / REJECTED)
            remove_empty(path)
        finally:
            lock.release()
    return report


def _remove_waiting(folder: Path) -> None:
    for found in pairs.survey(folder)[0].values():
        if Role.MANIFEST in found.roles:
            pairs.retire(folder, found.name)
        pairs.clear(folder, found.name)
    for name in UNTOLD_FILES:
        files.remove(folder / name)


def _remove_rejected(folder: Path) -> None:
    for found in pairs.survey(folder)[0].values():
        for file in sorted(found.roles.values(), reverse=True):  # of a batch the manifest last: it explains the rest
            files.remove(folder / file)
