"""The contract's numbers, against the client that the service's makers publish."""

from prime_traces import batching

from uploader import limits


def test_numbers_are_those_of_the_public_client() -> None:
    assert limits.MAX_REQUEST_BYTES == batching.MAX_BATCH_BYTES
    assert limits.MAX_LINE_BYTES == batching.MAX_LINE_BYTES
    assert limits.MAX_BATCH_LINES == batching.MAX_BATCH_LINES
    assert limits.DEFAULT_TARGET_BATCH_BYTES == batching.DEFAULT_TARGET_BATCH_BYTES
