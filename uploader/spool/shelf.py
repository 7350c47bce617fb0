"""The batches of one folder, on disk and in the index, kept in step. Whoever has the folder's lock uses it.

Changes of a batch that is there (acknowledged, divided, set aside) come one at a time; `folder` sees to that. Adding,
loading and syncing may happen meanwhile.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from uploader.clock import get_clock
from uploader.errors import SpoolError
from uploader.models import LineFormat
from uploader.sealing import SealedBatch
from uploader.spool import files, pairs, rejected
from uploader.spool.batches import Destination, SpooledBatch
from uploader.spool.index import Entry, Index, stem_of
from uploader.spool.manifest import Manifest, ManifestError, manifest_of
from uploader.spool.names import REJECTED, BatchName, Role
from uploader.spool.recovery import recover, set_damaged_aside


class Shelf:
    """What a folder holds, after it has been put in order.

    Args:
        path: the folder.
        run_id: the run that it belongs to.

    Raises:
        OSError: the folder cannot be read or written.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.path = path
        self.run_id = run_id
        found = recover(path, run_id)
        self.index = Index(found.last_seq)
        self._is_new = True
        for problem in found.problems:
            self.index.note_problem(problem)
        for name in found.batches.values():
            size = files.file_size(path / name.file(Role.DATA)) or 0
            self.index.reserve(size)
            self.index.put(Entry(name, size), [])

    def find(self, spooled: SpooledBatch) -> tuple[Entry, Manifest] | None:
        """A batch that is still here, and what is known of it."""
        entry = self.index.get(stem_of(spooled))
        manifest = None if entry is None else self.manifest(entry)
        return None if entry is None or manifest is None else (entry, manifest)

    def manifest(self, entry: Entry) -> Manifest | None:
        """What is known of a batch; None if it cannot be used, which has then been dealt with."""
        if entry.manifest is None:
            try:
                manifest = pairs.read_manifest(self.path, entry.name)
            except ManifestError:
                self.set_damaged_aside(entry, "its manifest is damaged")
                return None
            except OSError as error:
                self.index.note_problem(SpoolError(str(self.path / entry.name.file(Role.MANIFEST)), str(error)))
                self.index.remove(entry, self._paths(entry.name))
                return None
            if manifest.compressed_size != entry.size:
                self.set_damaged_aside(entry, f"it has {entry.size:,} bytes, not {manifest.compressed_size:,}")
                return None
            entry.manifest = manifest
        return entry.manifest

    def add(
        self,
        line_format: LineFormat,
        sealed: SealedBatch,
        destinations: tuple[Destination, ...],
        context: Mapping[str, str],
    ) -> Manifest:
        """Write a batch."""
        manifest = self._stage(line_format, sealed, destinations, context)
        try:
            pairs.commit(self.path, manifest.name)
        except BaseException:
            self._unstage([manifest])
            raise
        self._put(manifest)
        return manifest

    def load(self, manifest: Manifest) -> tuple[bytes, ...] | None:
        """A batch's bytes; None if they are not what was written."""
        try:
            return pairs.read_data(self.path, manifest)
        except FileNotFoundError:
            return None

    def acknowledge(self, entry: Entry, manifest: Manifest, sink: str) -> bool:
        """Note that a sink has a batch; whether it was the last one."""
        still = tuple(each for each in manifest.waiting_for if each.sink != sink)
        done = tuple(each for each in manifest.waiting_for if each.sink == sink)
        if not still:
            self.let_go(entry)
        elif done:
            noted = replace(manifest, waiting_for=still, acknowledged_by=(*manifest.acknowledged_by, *done))
            entry.manifest = noted
            self._attempt(lambda: pairs.rewrite(self.path, noted))
        return not still

    def let_go(self, entry: Entry) -> None:
        """Remove a batch that nobody waits for."""
        self.index.remove(entry, self._paths(entry.name))
        self._attempt(lambda: pairs.retire(self.path, entry.name), lambda: pairs.clear(self.path, entry.name))

    def divide(self, entry: Entry, whole: Manifest, parts: Sequence[SealedBatch]) -> list[Manifest]:
        """Put a batch's parts in its place. The one call that decides is the renaming of its manifest."""
        staged: list[Manifest] = []
        try:
            for part in parts:
                manifest = self._stage(whole.line_format, part, whole.waiting_for, whole.context, whole.seq)
                staged.append(manifest)
            pairs.retire(self.path, entry.name)
        except BaseException:
            self._unstage(staged)
            raise
        # From here the parts are the batch, whatever fails: the next opening would end this.
        steps = [lambda name=manifest.name: pairs.commit(self.path, name) for manifest in staged]
        self._attempt(*steps, lambda: pairs.clear(self.path, entry.name))
        self.index.remove(entry, self._paths(entry.name))
        for manifest in staged:
            self._put(manifest)
        return staged

    def set_aside(self, entry: Entry, manifest: Manifest, reason: str) -> None:
        """Move a batch to the rejected ones."""
        self.index.remove(entry, self._paths(entry.name))
        self._attempt(
            lambda: self.index.note_unsynced(rejected.set_aside(self.path, entry.name, manifest, reason)),
        )

    def set_damaged_aside(self, entry: Entry, reason: str) -> SpoolError:
        """Move a batch that is not what was written to the rejected ones, note it as a problem, and return that."""
        self.index.remove(entry, self._paths(entry.name))
        problem = set_damaged_aside(self.path, entry.name, self.run_id, reason)
        self.index.note_problem(problem)
        return problem

    def set_aside_line(self, line_format: LineFormat, pieces: Iterator[bytes], reason: str, num_lines: int = 1) -> None:
        """Keep a record that never came into a batch, or several."""
        name = BatchName(self.index.next_seq(), "0" * 64, line_format)
        self.index.note_unsynced(rejected.set_aside_line(self.path, self.run_id, name, pieces, reason, num_lines))

    def sync(self) -> None:
        """Return once every file that is here, and the names of all, would survive a loss of power."""
        unsynced = self.index.take_unsynced()
        try:
            for path in unsynced:
                files.sync(path)  # one that is gone was let go, or set aside and noted again
            for folder in (self.path / REJECTED, self.path, self.path.parent):
                files.sync(folder)
            if self._is_new:
                for parent in self.path.parent.parents:  # those that `make_folder` may have made
                    with suppress(OSError):
                        files.sync(parent)
                self._is_new = False
        except BaseException:
            self.index.note_unsynced(unsynced)
            raise

    def _stage(
        self,
        line_format: LineFormat,
        sealed: SealedBatch,
        destinations: tuple[Destination, ...],
        context: Mapping[str, str],
        divided_from: int | None = None,
    ) -> Manifest:
        size = sealed.compressed_size
        name = BatchName(
            self.index.next_seq(), sealed.batch.digest, line_format, compressed=sealed.content_encoding is not None
        )
        manifest = manifest_of(
            self.run_id,
            name.seq,
            line_format,
            sealed,
            xxh3_128="",
            created_at=get_clock().now().timestamp(),
            context=context,
            waiting_for=destinations,
        )
        manifest = replace(manifest, divided_from=divided_from)
        self.index.reserve(size)
        try:
            return pairs.stage(self.path, name, sealed.pieces, lambda _, xxh3: replace(manifest, xxh3_128=xxh3))
        except BaseException:
            self._unstage([manifest])
            raise

    def _unstage(self, staged: Sequence[Manifest]) -> None:
        for manifest in staged:
            self.index.reserve(-manifest.compressed_size)
        self._attempt(*(lambda name=each.name: pairs.unstage(self.path, name) for each in staged))

    def _put(self, manifest: Manifest) -> None:
        self.index.put(Entry(manifest.name, manifest.compressed_size, manifest), self._paths(manifest.name))

    def _paths(self, name: BatchName) -> list[Path]:
        return [self.path / name.file(role) for role in (Role.DATA, Role.MANIFEST)]

    def _attempt(self, *steps: Callable[[], None]) -> None:
        """Take steps that the next opening would take if they failed; the first that fails is a problem to report."""
        try:
            for step in steps:
                step()
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            self.index.note_problem(SpoolError(str(self.path), f"{error.strerror or error}{where}"))
