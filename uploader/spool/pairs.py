"""A batch's two files, written and let go so that a kill between any two system calls leaves what recovery understands.

1. `stage`: the lines go to a `.part`, then the manifest to its own; the lines are renamed. Lines in place with a
   whole manifest beside them as `.part` are a batch that only lacks its last rename.
2. `commit`: the manifest is renamed. From here the batch is spooled.
3. `rewrite`: another manifest is renamed over the old one.
4. `retire`: the manifest is renamed to `.done`. From here the batch is gone.
5. `clear`: the lines are removed, then the `.done`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import xxhash

from uploader.spool import files
from uploader.spool.manifest import Manifest, ManifestError, decode
from uploader.spool.names import BatchName, Role, parse_file

_MAX_MANIFEST_BYTES: Final = 16 * 2**20


@dataclass(slots=True)
class Found:
    """What there is of one batch in a folder: for each role the file's name."""

    name: BatchName
    roles: dict[Role, str] = field(default_factory=dict)


def survey(folder: Path) -> tuple[dict[str, Found], list[str]]:
    """The batches in a folder by stem, in order, and the names of what else is there; nothing is opened."""
    batches: dict[str, Found] = {}
    others = []
    for file in sorted(files.list_folder(folder)):
        if (parsed := parse_file(file)) is None:
            others.append(file)
            continue
        name, role = parsed
        found = batches.setdefault(name.stem, Found(name))
        found.roles[role] = file
        if role is Role.DATA or role is Role.DATA_PART:
            found.name = name  # it alone tells whether the lines are compressed
    return dict(sorted(batches.items(), key=lambda item: item[1].name.seq)), others


def stage(folder: Path, name: BatchName, pieces: Iterable[bytes], describe: Callable[[int, str], Manifest]) -> Manifest:
    """Write a batch's files, all but the last rename.

    Args:
        folder: where to.
        name: the files' names.
        pieces: the bytes.
        describe: makes the manifest from the size and the hash of what was written.
    """
    hasher = xxhash.xxh3_128()

    def hashed() -> Iterator[bytes]:
        for piece in pieces:
            hasher.update(piece)
            yield piece

    size = files.write_file(folder / name.file(Role.DATA_PART), hashed())
    manifest = describe(size, hasher.hexdigest())
    files.write_file(folder / name.file(Role.MANIFEST_PART), [manifest.encode()])
    files.move(folder / name.file(Role.DATA_PART), folder / name.file(Role.DATA))
    return manifest


def commit(folder: Path, name: BatchName) -> None:
    """Put the manifest in its place."""
    files.move(folder / name.file(Role.MANIFEST_PART), folder / name.file(Role.MANIFEST))


def unstage(folder: Path, name: BatchName) -> None:
    """Remove what `stage` wrote, or what there is of it; the manifest last, since it explains the rest."""
    for role in (Role.DATA_PART, Role.DATA, Role.MANIFEST_PART):
        files.remove(folder / name.file(role))


def rewrite(folder: Path, manifest: Manifest) -> None:
    """Put another manifest in the place of a batch's; it survives a loss of power as the old one did."""
    name = manifest.name
    files.write_file(folder / name.file(Role.MANIFEST_PART), [manifest.encode()])
    files.sync(folder / name.file(Role.MANIFEST_PART))
    commit(folder, name)


def retire(folder: Path, name: BatchName) -> None:
    """Let a batch go."""
    files.move(folder / name.file(Role.MANIFEST), folder / name.file(Role.DONE))


def clear(folder: Path, name: BatchName) -> None:
    """Remove what is left of a batch that was let go."""
    for role in (Role.DATA_PART, Role.DATA, Role.MANIFEST_PART, Role.DONE):
        files.remove(folder / name.file(role))


def read_manifest(folder: Path, name: BatchName, role: Role = Role.MANIFEST) -> Manifest:
    """A batch's manifest.

    Raises:
        ManifestError: it is not what was written.
        OSError: it cannot be read.
    """
    content = b"".join(files.read_pieces(folder / name.file(role), _MAX_MANIFEST_BYTES))
    manifest = decode(content)
    if manifest.name.stem != name.stem:
        raise ManifestError("it is another batch's")
    return manifest


def read_data(folder: Path, manifest: Manifest) -> tuple[bytes, ...] | None:
    """A batch's bytes in pieces; None if they are not what was written.

    Raises:
        OSError: they cannot be read.
    """
    pieces = tuple(files.read_pieces(folder / manifest.name.file(Role.DATA), manifest.compressed_size))
    hasher = xxhash.xxh3_128()
    for piece in pieces:
        hasher.update(piece)
    return pieces if hasher.hexdigest() == manifest.xxh3_128 else None


def hash_of(path: Path, max_bytes: int | None = None) -> str:
    """The XXH3-128 of a file, which is read and let go piece by piece; with `max_bytes`, of no more than one beyond.

    Raises:
        OSError: it cannot be read.
    """
    hasher = xxhash.xxh3_128()
    for piece in files.read_pieces(path, max_bytes):
        hasher.update(piece)
    return hasher.hexdigest()
