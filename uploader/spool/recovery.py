"""Puts a folder in order when it is opened: whatever was going on when its last user was killed is ended or undone.

Everything here may be killed, too, and is then done by the next opening.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from uploader.errors import DamagedBatchError, SpoolError
from uploader.spool import files, pairs
from uploader.spool import rejected as aside
from uploader.spool.manifest import Manifest, ManifestError, NewerManifestError
from uploader.spool.names import REJECTED, BatchName, Role
from uploader.spool.pairs import Found


@dataclass
class Recovered:
    """A folder in order.

    Attributes:
        batches: those with both files, by stem, in order.
        last_seq: the highest number that was given.
        problems: what was set aside, or cannot be used.
    """

    batches: dict[str, BatchName] = field(default_factory=dict)
    last_seq: int = 0
    problems: list[SpoolError] = field(default_factory=list)

    @contextmanager
    def going_on(self, folder: Path, found: Found) -> Iterator[None]:
        """Let an OSError inside the block be a problem of this batch alone, which is left as it is."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            self.problems.append(SpoolError(str(folder / found.name.file(Role.DATA)), f"{reason}: it is left as it is"))
            found.roles.clear()


def recover(folder: Path, run_id: str) -> Recovered:
    """Put a folder in order, whose lock is held.

    Raises:
        OSError: the folder cannot be listed.
    """
    batches, _ = pairs.survey(folder)
    set_aside, _ = pairs.survey(folder / REJECTED)
    recovered = Recovered(
        last_seq=max((found.name.seq for found in (*batches.values(), *set_aside.values())), default=0)
    )
    spooled = {found.name.seq for found in batches.values() if Role.MANIFEST in found.roles}
    for found in batches.values():
        with recovered.going_on(folder, found):
            _end_writing(folder, found, lambda seq: seq in spooled)
    for found in set_aside.values():
        with recovered.going_on(folder / REJECTED, found):
            _end_writing(folder / REJECTED, found, lambda seq: False)
    for found in batches.values():  # only now: a batch that was divided explains its parts until all are in place
        if Role.DONE in found.roles:
            with recovered.going_on(folder, found):
                pairs.clear(folder, found.name)
            found.roles.clear()
    for stem, found in batches.items():
        if stem in set_aside and Role.MANIFEST in found.roles and _is_told(folder / REJECTED, found.name):
            with recovered.going_on(folder, found):
                aside.finish(folder, found.name)
        elif Role.MANIFEST in found.roles and Role.DATA in found.roles:
            recovered.batches[stem] = found.name
        elif Role.MANIFEST in found.roles or Role.DATA in found.roles:
            missing = "its lines are missing" if Role.MANIFEST in found.roles else "its manifest is missing"
            recovered.problems.append(set_damaged_aside(folder, found.name, run_id, missing))
    return recovered


def set_damaged_aside(folder: Path, name: BatchName, run_id: str, reason: str) -> SpoolError:
    """Set a batch aside that is not what was written, with as many records as its manifest says.

    Never fails: where the folder takes nothing, the batch stays where it is, for the next opening.

    Returns:
        What is to be reported.
    """
    manifest: Manifest | None = None
    try:
        manifest = pairs.read_manifest(folder, name)
    except NewerManifestError as error:
        return SpoolError(str(folder / name.file(Role.MANIFEST)), f"{error}: use a later version of this package")
    except FileNotFoundError:
        pass
    except ManifestError as error:
        reason = f"its manifest is damaged: {error}"
    except OSError as error:
        return SpoolError(str(folder / name.file(Role.MANIFEST)), error.strerror or str(error))
    path = folder / name.file(Role.DATA)
    try:
        if manifest is None:
            path, _ = aside.set_aside_damaged(folder, name, run_id, reason)
        else:
            path, _ = aside.set_aside(folder, name, manifest, reason)
    except OSError as error:
        reason = f"{reason}; it cannot be set aside: {error.strerror or error}"
    return DamagedBatchError(str(path), reason, None if manifest is None else manifest.num_lines)


def _end_writing(folder: Path, found: Found, is_spooled: Callable[[int], bool]) -> None:
    """End the writing of a batch whose manifest only lacks its rename; undo any other."""
    name, roles = found.name, found.roles
    if Role.MANIFEST_PART in roles:
        del roles[Role.MANIFEST_PART]
        if Role.MANIFEST in roles or Role.DONE in roles or Role.DATA not in roles:
            files.remove(folder / name.file(Role.MANIFEST_PART))
        elif not _is_last_rename_missing(folder, name, is_spooled):
            files.remove(folder / name.file(Role.DATA))
            files.remove(folder / name.file(Role.MANIFEST_PART))
            roles.pop(Role.DATA, None)
        else:
            pairs.commit(folder, name)
            roles[Role.MANIFEST] = name.file(Role.MANIFEST)
    if Role.DATA_PART in roles:
        files.remove(folder / name.file(Role.DATA_PART))
        del roles[Role.DATA_PART]


def _is_last_rename_missing(folder: Path, name: BatchName, is_spooled: Callable[[int], bool]) -> bool:
    """False for a part of a batch that is still there whole; a damaged manifest is put in place, and then reported."""
    try:
        manifest = pairs.read_manifest(folder, name, Role.MANIFEST_PART)
    except ManifestError:
        return True
    return manifest.divided_from is None or not is_spooled(manifest.divided_from)


def _is_told(folder: Path, name: BatchName) -> bool:
    try:
        pairs.read_manifest(folder, name)
    except (ManifestError, OSError):
        return False
    return True
