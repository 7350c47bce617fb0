"""The numbers of the service's contract and of this client, each with its source."""

MIB = 1024 * 1024

# The service's limits, all over uncompressed bytes.
MAX_REQUEST_BYTES = 256 * MIB
"""The largest request (`upload_too_large`)."""

MAX_LINE_BYTES = 64 * MIB
"""The longest line, its LF not counted (`trace_too_large`)."""

MAX_BATCH_LINES = 1_000_000
"""The most lines in one request (`too_many_traces_in_upload`)."""

MAX_IN_FLIGHT = 8
"""The most requests that one producer may have in flight."""

# The deployed transport takes 32 MiB a request body, so a batch fits even when it is not compressed. It is
# what prime-traces 0.0.10 closes at: the same lines make the same batches, and the same keys, whoever sends
# them.
DEFAULT_TARGET_BATCH_BYTES = 30 * MIB
"""Where a batch closes, unless a single line is larger."""

# Measured: chunks of 256 KiB lag an event loop by 1 to 3 ms at full speed; chunks of 1 MiB are a little
# faster and lag more; 64 KiB the other way.
CHUNK_BYTES = 256 * 1024
"""The most bytes given to one C call, and the longest piece of a body."""

# Measured while a worker encodes, on two cores: 256 KiB 310, 512 KiB 336, 1 MiB 355, 2 MiB 381 MB/s, as the compressor
# waits for the GIL after each call. The 99th percentile of a loop's lag is 2.0, 1.8, 2.2 and 2.3 ms.
WORKER_CHUNK_BYTES = 2 * 1024 * 1024
"""The most bytes given to the hash or the compressor on a worker's own thread."""

DEFAULT_MAX_ATTEMPTS = 5
"""How often one request is tried."""

RETRY_AFTER_CAP_S = 60.0
"""The longest wait that a `Retry-After` is granted."""
