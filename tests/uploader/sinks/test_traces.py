import asyncio
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from tests.naming import stable_id
from tests.uploader.delivery.support import lines, sealed
from uploader.config import Config
from uploader.errors import (
    APITimeoutError,
    ConfigurationError,
    InvalidAnswerError,
    MissingAPIKeyError,
    PayloadTooLargeError,
    RetryableAPIError,
    TransportError,
    ValidationRejectedError,
)
from uploader.models import LineFormat, UploadReceipt
from uploader.sinks import traces
from uploader.sinks.base import SinkBatch
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination
from uploader.testing import Answer, ScriptedTransport, refusal

URL = "http://service.test"
BATCH = sealed(lines(3))


def sent(
    script: Iterable[Answer] = (),
    batches: int = 1,
    *,
    config: Config | None = None,
    line_format: LineFormat = LineFormat.TRACE,
    **context: str,
) -> tuple[list[UploadReceipt], ScriptedTransport]:
    transport = ScriptedTransport(script)

    async def send() -> list[UploadReceipt]:
        sink = TracesSink(config or Config("key", URL, "team"), transport=transport)
        await sink.start("run")
        try:
            batch = SinkBatch("run", line_format, BATCH, context)
            return [await sink.send(batch) for _ in range(batches)]
        finally:
            await sink.close()

    return asyncio.run(send()), transport


def test_a_batch_is_one_request_with_its_key_team_and_digest() -> None:
    [receipt], transport = sent()
    [request] = transport.requests
    assert (receipt.upload_id, receipt.status) == (BATCH.batch.digest, "committed")
    assert (request.method, str(request.url)) == ("POST", f"{URL}/api/v1/traces")
    assert request.digest == BATCH.batch.digest
    assert (request.headers["authorization"], request.headers["x-prime-team-id"]) == ("Bearer key", "team")
    assert "x-prime-line-format" not in request.headers
    assert b"".join(BATCH.pieces) in request.body


def test_episodes_and_the_context_are_named() -> None:
    _, transport = sent(line_format=LineFormat.EPISODE, run="r1")
    [request] = transport.requests
    assert request.headers["x-prime-line-format"] == "episode"
    assert b'"context":{"run":"r1"}' in request.body


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (429, RetryableAPIError),
        (503, RetryableAPIError),
        (500, RetryableAPIError),
        (413, PayloadTooLargeError),
        (refusal(400, "invalid_trace"), ValidationRejectedError),
        (httpx.ConnectError("refused"), TransportError),
        (httpx.ReadTimeout("late"), APITimeoutError),
        (httpx.Response(200, text="<html>"), InvalidAnswerError),
    ],
    ids=stable_id,
)
def test_every_failure_is_one_attempt(answer: Answer, error: type[Exception]) -> None:
    transport_requests: list[Any] = []

    def note(request: Any) -> Answer:
        transport_requests.append(request)
        return answer

    with pytest.raises(error):
        sent([note])
    assert len(transport_requests) == 1


def test_what_comes_byte_by_byte_for_too_long_is_a_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "_PATIENCE_S", 0.01)
    with pytest.raises(APITimeoutError, match="bytes still came"):
        sent([lambda _: asyncio.sleep(60)])


def test_without_a_key_it_does_not_start() -> None:
    with pytest.raises(MissingAPIKeyError):
        sent(config=Config("", URL))


def test_its_destination_is_the_service_and_the_team_without_the_key() -> None:
    sink = TracesSink(Config("key", URL, "team"))
    assert (sink.name, sink.destination) == ("traces", Destination("traces", URL, "team"))
    other = Destination("traces", "http://before.test")
    redirected = TracesSink(Config("key", URL), destination=other)
    assert (redirected.destination, redirected.name) == (other, other.sink)  # a spool knows who got a batch by the name


def test_a_second_start_opens_a_client_for_the_new_loop() -> None:
    transport = ScriptedTransport()
    sink = TracesSink(Config("key", URL), transport=transport)

    async def send() -> None:
        await sink.start("run")
        await sink.send(SinkBatch("run", LineFormat.TRACE, BATCH))

    asyncio.run(send())
    asyncio.run(send())
    assert len(transport.requests) == 2


def test_a_transport_of_the_other_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="AsyncBaseTransport"):
        TracesSink(Config("key", URL), transport=object())  # type: ignore[arg-type]
