"""Lazy generators of sealed batches, over lines or records, sync and async.

One core serves all four: `Batcher` takes an item and gives back a batch when the item closed one. When the
source or an item fails, the batches that were full before come first, then the error; nothing of the open
batch is given away.

The async generators do all work (encoding, hashing, compressing, and pulling from a source that is not async)
in one thread of their own. Closing or cancelling one stops that thread at the next chunk or item and closes
the source.
"""

import io
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterable
from contextlib import aclosing
from functools import partial
from typing import TypeAlias

from encoder.pacer import Pacer
from uploader.arguments import check_source
from uploader.batcher import Batcher
from uploader.compression import CompressOption
from uploader.errors import RecordError, RecordFailure, TraceTooLargeError, clear_frames
from uploader.limits import DEFAULT_TARGET_BATCH_BYTES, MAX_BATCH_LINES, MAX_LINE_BYTES, MIB
from uploader.lines import whole_line
from uploader.offload import Offload
from uploader.records import Record, whole_record
from uploader.sealing import SealedBatch, Sealer

OnRecordError: TypeAlias = Callable[[RecordFailure], None]
"""Told of a record that was set aside, on the thread that seals; the other records go on."""

_THREAD_NAME = "unstall-seal"
_MAX_GROUP_BYTES = MIB
_ITEM_COST_BYTES = 1024  # pulling an item takes the loop as long as copying this much


def seal_lines(
    lines: Iterable[bytes],
    *,
    target_batch_bytes: int = DEFAULT_TARGET_BATCH_BYTES,
    compress: CompressOption = True,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_lines: int = MAX_BATCH_LINES,
) -> Generator[SealedBatch, None, None]:
    """Sealed batches of lines, which are taken as they are; blank ones are skipped.

    A line that lacks its LF gets it when another follows in the same batch.

    Args:
        lines: the lines, pulled as batches are asked for.
        target_batch_bytes: the uncompressed size at which a batch closes.
        compress: False, True (gzip level 1) or a gzip level.
        max_line_bytes: how long a line may be, its LF not counted.
        max_lines: the most lines in one batch.

    Raises:
        ConfigurationError: at once, an option has a value that cannot be used.
        RecordError: a line is no bytes.
        TraceTooLargeError: a line is too long.
    """
    check_source("lines", lines, may_be_async=False)
    sealer = Sealer(target_batch_bytes=target_batch_bytes, compress=compress, max_lines=max_lines)
    return _seal(lines, _line_batcher(sealer, max_line_bytes))


def seal_records(
    records: Iterable[Record],
    *,
    target_batch_bytes: int = DEFAULT_TARGET_BATCH_BYTES,
    compress: CompressOption = True,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_lines: int = MAX_BATCH_LINES,
    on_error: OnRecordError | None = None,
) -> Generator[SealedBatch, None, None]:
    """Sealed batches of records: mappings, objects that encode themselves, encoded lines.

    Args:
        records: the records, pulled as batches are asked for.
        target_batch_bytes: the uncompressed size at which a batch closes.
        compress: False, True (gzip level 1) or a gzip level.
        max_line_bytes: how long a record may be.
        max_lines: the most records in one batch.
        on_error: told of each record that fails, and the others go on; without it the first is raised.

    Raises:
        ConfigurationError: at once, an option has a value that cannot be used.
        RecordError: a record cannot be written.
        TraceTooLargeError: a record is too long.
    """
    check_source("records", records, may_be_async=False)
    sealer = Sealer(target_batch_bytes=target_batch_bytes, compress=compress, max_lines=max_lines)
    return _seal(records, _record_batcher(sealer, max_line_bytes, on_error))


def aseal_lines(
    lines: Iterable[bytes] | AsyncIterable[bytes],
    *,
    target_batch_bytes: int = DEFAULT_TARGET_BATCH_BYTES,
    compress: CompressOption = True,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_lines: int = MAX_BATCH_LINES,
) -> AsyncGenerator[SealedBatch, None]:
    """As `seal_lines`, of a sync or async source, with the work off the event loop; the same digests."""
    check_source("lines", lines, may_be_async=True)
    sealer = Sealer(target_batch_bytes=target_batch_bytes, compress=compress, max_lines=max_lines)
    return _aseal(lines, _line_batcher(sealer, max_line_bytes), min(target_batch_bytes, _MAX_GROUP_BYTES))


def aseal_records(
    records: Iterable[Record] | AsyncIterable[Record],
    *,
    target_batch_bytes: int = DEFAULT_TARGET_BATCH_BYTES,
    compress: CompressOption = True,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_lines: int = MAX_BATCH_LINES,
    on_error: OnRecordError | None = None,
) -> AsyncGenerator[SealedBatch, None]:
    """As `seal_records`, of a sync or async source, with the work off the event loop; the same digests."""
    check_source("records", records, may_be_async=True)
    sealer = Sealer(target_batch_bytes=target_batch_bytes, compress=compress, max_lines=max_lines)
    batcher = _record_batcher(sealer, max_line_bytes, on_error)
    return _aseal(records, batcher, min(target_batch_bytes, _MAX_GROUP_BYTES))


def _line_batcher(sealer: Sealer, max_line_bytes: int) -> Batcher:
    return Batcher(sealer, partial(whole_line, max_line_bytes=max_line_bytes), Pacer())


def _record_batcher(sealer: Sealer, max_line_bytes: int, on_error: OnRecordError | None) -> Batcher:
    pacer = Pacer()

    def whole(record: Record, line_number: int) -> tuple[list[bytes], int] | None:
        try:
            return whole_record(record, line_number, max_line_bytes=max_line_bytes, pause=pacer.pause_if_due)
        except (RecordError, TraceTooLargeError) as error:
            if on_error is None:
                raise
            clear_frames(error)  # they hold the record's pieces
            on_error(error.with_traceback(None))
            return None

    return Batcher(sealer, whole, pacer)


def _seal(source: Iterable[object], batcher: Batcher) -> Generator[SealedBatch, None, None]:
    items = None
    try:
        items = iter(source)
        for item in items:
            if (sealed := batcher.push(item)) is not None:
                yield sealed
        if (sealed := batcher.finish()) is not None:
            yield sealed
    finally:
        # A `for` loop does not close what it loops over. A file stays open: whoever opened it may read on.
        if not isinstance(items, io.IOBase) and callable(close := getattr(items, "close", None)):
            close()


def _aseal(
    source: Iterable[object] | AsyncIterable[object], batcher: Batcher, max_group_bytes: int
) -> AsyncGenerator[SealedBatch, None]:
    if isinstance(source, AsyncIterable):
        return _aseal_pulled(source, batcher, max_group_bytes)
    return _aseal_in_thread(source, batcher)


async def _aseal_in_thread(source: Iterable[object], batcher: Batcher) -> AsyncGenerator[SealedBatch, None]:
    """Batches of a source that blocks: the whole sync generator runs in the thread, one batch at a time."""
    thread = Offload(_THREAD_NAME)
    batches = _seal(source, batcher)
    try:
        while (sealed := await thread.call(next, batches, None)) is not None:
            yield sealed
    finally:
        batcher.stop()
        await thread.aclose(batches.close)


async def _aseal_pulled(
    source: AsyncIterable[object], batcher: Batcher, max_group_bytes: int
) -> AsyncGenerator[SealedBatch, None]:
    """Batches of an async source: items are pulled on the loop and worked on in the thread."""
    thread = Offload(_THREAD_NAME)
    try:
        async with aclosing(_groups(source, max_group_bytes)) as groups:
            async for group in groups:
                batches, error = await thread.call(batcher.push_group, group)
                for sealed in batches:
                    yield sealed
                if error is not None:
                    raise error
        if (last := await thread.call(batcher.finish)) is not None:
            yield last
    finally:
        batcher.stop()
        await thread.aclose()


async def _groups(source: AsyncIterable[object], max_bytes: int) -> AsyncGenerator[list[object], None]:
    """Items in groups worth a trip to a thread: many short lines, or one record.

    When the source fails, what was pulled before comes first, then the error.
    """
    items: AsyncIterator[object] = aiter(source)
    group: list[object] = []
    group_bytes = 0
    try:
        try:
            async for item in items:
                group.append(item)
                size = len(item) if isinstance(item, bytes | bytearray) else max_bytes
                group_bytes += size + _ITEM_COST_BYTES
                if group_bytes >= max_bytes:
                    yield group
                    group, group_bytes = [], 0
        finally:
            if callable(aclose := getattr(items, "aclose", None)):
                await aclose()
    except Exception:
        if group:
            yield group
        raise
    if group:
        yield group
