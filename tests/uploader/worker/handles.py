"""Handles that stand for sealed batches."""

from uploader.models import Batch, LineFormat
from uploader.spool.batches import Destination, SpooledBatch

SINK = "traces"
HOME = Destination(SINK, "https://there")


def spooled(seq: int, records: int, *, on_disk: bool = True, run_id: str = "run") -> SpooledBatch:
    """A handle that stands for so many records."""
    batch = Batch(digest=f"{seq:064x}", num_lines=records, first_line_number=1, size=records * 10)
    return SpooledBatch(run_id, seq, LineFormat.EPISODE, batch, records, 0.0, waiting_for=(HOME,), on_disk=on_disk)
