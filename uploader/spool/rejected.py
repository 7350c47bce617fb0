"""What was set aside: `rejected/` in a run's folder, with the same two files for each batch; the JSON has the reason.

Setting a batch aside begins with its manifest in `rejected/`, which says how it ends: recovery moves the lines after it
and removes the manifest that it replaces.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from uploader.clock import get_clock
from uploader.compression import open_compressor
from uploader.limits import CHUNK_BYTES
from uploader.spool import files, pairs
from uploader.spool.manifest import Manifest
from uploader.spool.names import REJECTED, BatchName, Role

_LEVEL: Final = 1


def set_aside(folder: Path, name: BatchName, manifest: Manifest, reason: str) -> list[Path]:
    """Move a batch to the rejected ones, and return the paths of its files there.

    Args:
        folder: the run's folder.
        name: the batch's files.
        manifest: what is known of it.
        reason: why it is set aside.

    Raises:
        OSError: the folder does not take it; the batch is where it was, or the next opening ends the move.
    """
    rejected = folder / REJECTED
    files.make_folder(rejected)
    told = replace(manifest, reason=reason, set_aside_at=get_clock().now().timestamp())
    files.write_file(rejected / name.file(Role.MANIFEST_PART), [told.encode()])
    pairs.commit(rejected, name)
    finish(folder, name)
    return [rejected / name.file(role) for role in (Role.DATA, Role.MANIFEST)]


def finish(folder: Path, name: BatchName) -> None:
    """Move the lines of a batch whose manifest is among the rejected ones already, then remove the one that it had."""
    with suppress(FileNotFoundError):  # they may be what is missing, or have been moved
        files.move(folder / name.file(Role.DATA), folder / REJECTED / name.file(Role.DATA))
    files.remove(folder / name.file(Role.MANIFEST))


def set_aside_damaged(folder: Path, name: BatchName, run_id: str, reason: str) -> list[Path]:
    """Move a batch whose manifest is damaged or missing; what was left of the manifest is kept beside the new one.

    Raises:
        OSError: as `set_aside`.
    """
    rejected = folder / REJECTED
    files.make_folder(rejected)
    with suppress(FileNotFoundError):
        files.move(folder / name.file(Role.MANIFEST), rejected / name.file(Role.DAMAGED))
    size = files.file_size(folder / name.file(Role.DATA))
    if size is None:
        size = files.file_size(rejected / name.file(Role.DATA)) or 0
    return set_aside(folder, name, unknown(name, run_id, size), reason)


def unknown(name: BatchName, run_id: str, size: int) -> Manifest:
    """What the files' names and the file's size alone say of a batch."""
    return Manifest(
        run_id=run_id,
        seq=name.seq,
        line_format=name.line_format,
        digest=name.digest,
        num_lines=None,
        first_line_number=0,
        size=None,
        compressed_size=size,
        content_encoding="gzip" if name.compressed else None,
        xxh3_128=None,
        created_at=get_clock().now().timestamp(),
    )


def set_aside_line(
    folder: Path, run_id: str, name: BatchName, pieces: Iterator[bytes], reason: str, num_lines: int = 1
) -> list[Path]:
    """Keep a record that never came into a batch, or what could be written of it; return the paths of its files.

    Args:
        folder: the run's folder.
        run_id: the run.
        name: of the files, but for the digest.
        pieces: the record's bytes; or those of several, in lines.
        reason: why it is set aside.
        num_lines: how many there are.

    Raises:
        OSError: the folder does not take it; nothing is left of it.
    """
    rejected = folder / REJECTED
    files.make_folder(rejected)
    hasher, compressor = hashlib.sha256(), open_compressor(_LEVEL)
    size = 0

    def compressed() -> Iterator[bytes]:
        nonlocal size
        with suppress(Exception):  # what an encoder's generator raises is the reason, or will be told elsewhere
            for chunk in _chunks(pieces):
                hasher.update(chunk)
                size += len(chunk)
                if output := compressor.add(chunk):
                    yield output
        yield compressor.finish()

    # The digest is known only when everything is written; until then the file has a name with another one.
    partial = rejected / name.file(Role.DATA_PART)
    whole = None
    try:
        compressed_size = files.write_file(partial, compressed())
        whole = replace(name, digest=hasher.hexdigest())
        manifest = replace(unknown(whole, run_id, compressed_size), num_lines=num_lines, size=size, reason=reason)
        manifest = replace(manifest, xxh3_128=pairs.hash_of(partial), set_aside_at=manifest.created_at)
        files.write_file(rejected / whole.file(Role.MANIFEST_PART), [manifest.encode()])
        files.move(partial, rejected / whole.file(Role.DATA))
        pairs.commit(rejected, whole)
    except BaseException:
        with suppress(OSError):
            files.remove(partial)
            if whole is not None:
                pairs.unstage(rejected, whole)
        raise
    return [rejected / whole.file(role) for role in (Role.DATA, Role.MANIFEST)]


def _chunks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, the long ones cut, so that no call works on more than 256 KiB."""
    for piece in pieces:
        for start in range(0, len(piece), CHUNK_BYTES):
            yield piece[start : start + CHUNK_BYTES]
