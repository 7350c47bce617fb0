"""The bytes of a whole record, put together while they are written.

Parts are kept as they come and joined at the end, by a call that releases the GIL. But to let many parts go costs: the
allocator gives their memory back in tens of megabytes, which takes milliseconds. So what grows large goes into one
growing buffer, part by part, and is never there twice. A small one is not worth that: the allocator would clear a
buffer of its size first, or copy it as it grows; a large one is mapped by the system, and moved without a copy.
"""

import threading
from collections.abc import Iterator
from io import BytesIO
from typing import Final

# A mapping that is whole huge pages long is laid at the border of one (Linux 6.7), and moved huge page by huge page:
# that takes 0.05 to 0.2 ms for 32 MB to 1 GB, and page by page 2 to 5 ms. Around its bytes a `bytes` object takes 33,
# and glibc 16; what is less than a page does not matter.
_HUGE_PAGE_BYTES: Final = 2 * 1024 * 1024
_AROUND_BYTES: Final = 64

# The bytes from where on a buffer is worth it: what glibc maps by itself whatever was allocated before (its greatest
# M_MMAP_THRESHOLD is 32 MiB), and nearly what the first buffer has room for.
LARGE_BYTES: Final = 34 * 1024 * 1024 - 256 * 1024

# Parts that are looked at together, and the mean size below which they are joined: a header takes 33 bytes, and the
# allocator some more, which would be more than a hundredth.
_MANY_PARTS: Final = 64
_SMALL_PART_BYTES: Final = 4096

# Bytes copied, and parts let go, between two moments to give way: some tens of microseconds, with the page faults.
_COPIED_AT_ONCE: Final = 256 * 1024
_FREED_AT_ONCE: Final = 16


# What glibc neither maps by itself nor Python keeps in its own pools.
_LEAST_PIN_BYTES: Final = 1024
_MAX_PIN_BYTES: Final = 96 * 1024


def whole_pages(size: int) -> int:
    """The least size of a buffer from this one on that makes whole huge pages of its mapping."""
    return -(-(size + _AROUND_BYTES) // _HUGE_PAGE_BYTES) * _HUGE_PAGE_BYTES - _AROUND_BYTES


def grown(capacity: int) -> tuple[int, int]:
    """What to write up to, so that a `BytesIO` that is full grows to whole huge pages, and its capacity then.

    It grows by an eighth of what it must hold, and 6 bytes. Where it did not, only time would be lost.
    """
    least = capacity + 1
    aim = whole_pages(least + (least >> 3) + 6)
    size = (aim - 6) * 8 // 9
    return size, size + (size >> 3) + 6


class _OfThread(threading.local):
    """What keeps the memory of this thread's parts in the process.

    The allocator gives free memory back as soon as all above it is free too, tens of megabytes in one call: that takes
    0.12 ms a megabyte, without giving way. So the part that lies highest is kept, until another one is:
    what the parts lay in, at most `LARGE_BYTES`, is used again for the next record.
    """

    def __init__(self) -> None:
        self.pin = bytes(_LEAST_PIN_BYTES)


_of_thread: Final = _OfThread()


class Assembly:
    """Takes parts and makes one `bytes` of them.

    Attributes:
        parts: where the next ones are appended, between two steps.
    """

    def __init__(self, large_bytes: int = LARGE_BYTES) -> None:
        """Args: the size from where on one buffer is used."""
        self.parts: list[bytes] = []
        self._large_bytes = large_bytes
        self._settled = 0  # how many parts have been looked at
        self._size = 0  # the bytes of these
        self._buffer: BytesIO | None = None
        self._capacity = 0  # of the buffer
        self._whole = b""

    def over(self, steps: Iterator[object]) -> Iterator[bytes]:
        """Take in what some steps append, and yield an empty piece wherever it is a good moment to give way."""
        for _ in steps:
            if len(self.parts) - self._settled > _MANY_PARTS:
                yield from self._settle()
            yield b""
        yield from self._settle()
        if self._buffer is not None:
            self._buffer.truncate()
            self._whole, self._buffer = self._buffer.getvalue(), None
            yield b""

    def _settle(self) -> Iterator[bytes]:
        """Look at the last parts: small ones are joined, and all go into the buffer if there is one."""
        parts = self.parts
        last = parts[self._settled :]
        size = sum(map(len, last))
        self._size += size
        if size < len(last) * _SMALL_PART_BYTES:
            parts[self._settled :] = [b"".join(last)]
        del last
        self._settled = len(parts)
        if self._buffer is None and self._size > self._large_bytes:
            self._capacity = whole_pages(max(LARGE_BYTES, self._size))
            self._buffer = BytesIO(bytes(self._capacity))  # of zeros, which the system makes when used
        if self._buffer is not None:
            yield from self._copy(self._buffer)

    def _copy(self, buffer: BytesIO) -> Iterator[bytes]:
        """Move all parts into the buffer."""
        self._pin()
        copied = 0
        for position, part in enumerate(self.parts):
            if buffer.tell() + len(part) > self._capacity:
                self._grow(buffer, len(part))
                yield b""
            buffer.write(part)
            self.parts[position] = b""
            copied += len(part)
            if copied >= _COPIED_AT_ONCE:
                copied = 0
                del part
                yield b""
        self.parts.clear()
        self._settled = 0

    def _grow(self, buffer: BytesIO, size: int) -> None:
        """Make room for so many bytes more."""
        end = buffer.tell()
        while end + size > self._capacity:
            up_to, self._capacity = grown(self._capacity)
            buffer.seek(up_to - 1)
            buffer.write(b"\0")
        buffer.seek(end)

    def _pin(self) -> None:
        """Keep the part that lies highest in memory, or nearly, unless one just above it is kept already.

        One far above it would hold memory that was freed since, and is not the encoder's.
        """
        some = (*self.parts[:-_MANY_PARTS:_FREED_AT_ONCE], *self.parts[-_MANY_PARTS:])
        highest = max((part for part in some if _LEAST_PIN_BYTES <= len(part) <= _MAX_PIN_BYTES), key=id, default=b"")
        if highest and not 0 <= id(_of_thread.pin) - id(highest) < LARGE_BYTES:
            _of_thread.pin = highest

    def result(self) -> bytes:
        """The whole, after the last step. The parts are still there, if any: see `let_go`."""
        return b"".join(self.parts) if self.parts else self._whole

    def let_go(self) -> Iterator[bytes]:
        """Let the parts go, a few at a time, with an empty piece wherever it is a good moment to give way."""
        if len(self.parts) > _FREED_AT_ONCE:
            self._pin()
        self._whole = b""
        while self.parts:
            del self.parts[-_FREED_AT_ONCE:]
            yield b""
