"""What the tests of the spool share: small sealed batches, and where they are to go."""

import gzip
import os
import warnings
from collections.abc import Callable

from uploader.sealing import SealedBatch, Sealer
from uploader.spool.batches import Destination

TRACES = Destination("traces", "https://traces.example", "team")
FILES = Destination("files", "/data/runs")


def seal(*lines: bytes, compress: bool = True) -> SealedBatch:
    """A batch of these lines."""
    sealer = Sealer(compress=compress)
    for number, line in enumerate(lines, 1):
        sealer.add([line], len(line), number)
    return sealer.seal()


def content(sealed: SealedBatch) -> bytes:
    """A batch's uncompressed bytes."""
    body = b"".join(sealed.pieces)
    return gzip.decompress(body) if sealed.content_encoding else body


def forked(check: Callable[[], bool]) -> bool:
    """What a child finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns where there are threads
        child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
