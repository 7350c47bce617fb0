"""Looks at what a run's folder holds, without its lock and without changing anything; damage is told, never raised.

A folder in use changes meanwhile: what has gone between two looks is not there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from uploader.spool import files, pairs
from uploader.spool.manifest import Manifest, ManifestError, NewerManifestError
from uploader.spool.names import LOCK, METRICS, REJECTED, UNTOLD_FILES, BatchName, Role, is_folder_name
from uploader.spool.pairs import Found

_OWN: Final = frozenset({LOCK, REJECTED, METRICS, *UNTOLD_FILES})
"""The files in a run's folder that are no batches."""


class State(StrEnum):
    """How it is with a batch."""

    WAITING = "waiting"
    """It is to be sent."""

    REJECTED = "rejected"
    """It was set aside."""

    DAMAGED = "damaged"
    """It is not what was written; the next opening sets it aside."""

    UNFINISHED = "unfinished"
    """It was being written, sent or moved when the folder was last used; the next opening ends that or undoes it."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """One batch as it is on disk.

    Attributes:
        folder: where its files are.
        name: its files.
        state: how it is.
        reason: why it is so; empty for one that waits.
        manifest: what is known of it; None where that is damaged or missing.
    """

    folder: Path
    name: BatchName
    state: State
    reason: str = ""
    manifest: Manifest | None = None

    @property
    def data_path(self) -> Path:
        """The file of its lines."""
        return self.folder / self.name.file(Role.DATA)

    @property
    def num_records(self) -> int | None:
        """How many records it holds; None where nobody knows."""
        return None if self.manifest is None else self.manifest.num_lines


def run_folders(root: Path) -> list[Path]:
    """The folders of all runs, by name.

    Raises:
        OSError: the spool cannot be listed.
    """
    paths = (root / name for name in sorted(files.list_folder(root)) if is_folder_name(name))
    return [path for path in paths if path.is_dir()]


def examine(path: Path, *, verify: bool = False) -> Iterator[BatchReport]:
    """Every batch in a folder, those that wait first, in order.

    Args:
        path: the folder.
        verify: whether to read the lines, too, and compare them with their hash.

    Raises:
        OSError: the folder cannot be listed.
    """
    waiting, _ = pairs.survey(path)
    rejected, _ = pairs.survey(path / REJECTED)
    for stem, found in waiting.items():
        report = _waiting(path, found, verify=verify)
        if report is not None and stem in rejected and Role.MANIFEST in rejected[stem].roles:
            continue  # it is being set aside, and told below
        if report is not None:
            yield report
    for found in rejected.values():
        yield _rejected(path / REJECTED, found)


def other_files(path: Path) -> list[Path]:
    """What is in a folder and is none of the spool's.

    Raises:
        OSError: the folder cannot be listed.
    """
    own = [path / name for name in pairs.survey(path)[1] if name not in _OWN]
    return own + [path / REJECTED / name for name in pairs.survey(path / REJECTED)[1]]


def _waiting(folder: Path, found: Found, *, verify: bool) -> BatchReport | None:
    """None if the batch has gone meanwhile."""
    roles = found.roles
    if Role.DONE in roles:
        return BatchReport(folder, found.name, State.UNFINISHED, "it was sent or divided, and is to be removed")
    # A rename during the listing may have hidden the manifest from it.
    if Role.MANIFEST not in roles and files.file_size(folder / found.name.file(Role.MANIFEST)) is None:
        if Role.MANIFEST_PART in roles or Role.DATA not in roles:
            return BatchReport(folder, found.name, State.UNFINISHED, "it was being written")
        if files.file_size(folder / found.name.file(Role.DATA)) is None:
            return None
        return BatchReport(folder, found.name, State.DAMAGED, "its manifest is missing")
    try:
        manifest = pairs.read_manifest(folder, found.name)
    except FileNotFoundError:
        return None
    except NewerManifestError as error:
        return BatchReport(folder, found.name, State.DAMAGED, f"{error}: use a later version of this package")
    except ManifestError as error:
        return BatchReport(folder, found.name, State.DAMAGED, f"its manifest is damaged: {error}")
    except OSError as error:
        return BatchReport(folder, found.name, State.DAMAGED, error.strerror or str(error))
    problem = _problem(folder, manifest, verify=verify)
    if problem and files.file_size(folder / found.name.file(Role.MANIFEST)) is None:
        return None
    return BatchReport(folder, found.name, State.DAMAGED if problem else State.WAITING, problem, manifest)


def _problem(folder: Path, manifest: Manifest, *, verify: bool) -> str:
    """What is wrong with a batch's lines."""
    path = folder / manifest.name.file(Role.DATA)
    try:
        size = files.file_size(path)
        if size is None:
            return "its lines are missing"
        if size != manifest.compressed_size:
            return f"it has {size:,} bytes, not {manifest.compressed_size:,}"
        if verify and pairs.hash_of(path, manifest.compressed_size) != manifest.xxh3_128:
            return "its lines are not those that were written"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _rejected(folder: Path, found: Found) -> BatchReport:
    if Role.MANIFEST not in found.roles:
        return BatchReport(folder, found.name, State.UNFINISHED, "it was being set aside")
    try:
        manifest = pairs.read_manifest(folder, found.name)
    except (ManifestError, OSError):
        return BatchReport(folder, found.name, State.REJECTED, "the reason cannot be read")
    return BatchReport(folder, found.name, State.REJECTED, manifest.reason or "", manifest)
