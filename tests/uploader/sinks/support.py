"""Sends batches to a sink, as the sender does: on a loop of its own."""

import asyncio
from collections.abc import Sequence

from uploader.models import LineFormat, UploadReceipt
from uploader.sealing import SealedBatch
from uploader.sinks.base import Sink, SinkBatch

RUN = "Run/1"
FOLDER = "%52un%2f1"


def send(
    sink: Sink, batches: Sequence[SealedBatch], line_format: LineFormat = LineFormat.EPISODE, run_id: str = RUN
) -> list[UploadReceipt]:
    async def go() -> list[UploadReceipt]:
        await sink.start(run_id)
        try:
            return [await sink.send(SinkBatch(run_id, line_format, batch)) for batch in batches]
        finally:
            await sink.close()

    return asyncio.run(go())
