from datetime import UTC, datetime
from typing import Any

import pytest

from uploader.config import Config
from uploader.dividing import divide
from uploader.errors import (
    PayloadTooLargeError,
    RedirectError,
    RetryableAPIError,
    TransportError,
    UploaderError,
    ValidationRejectedError,
)
from uploader.exchange import Request, Response
from uploader.flow import Delivery, Divide, Send, read_flow, redirected, upload_flow
from uploader.options import upload_options
from uploader.retry import RetryPolicy, Sleep
from uploader.sealing import SealedBatch, Sealer

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
CONFIG = Config("key", "https://h", "team")


def sealed(count: int = 1) -> SealedBatch:
    sealer = Sealer()
    for number in range(count):
        sealer.add([b"%d\n" % number], 2, number + 1)
    return sealer.seal()


def answer(status: int, body: bytes = b"", **headers: Any) -> Response:
    return Response(status, headers, body, NOW)


def wait(retry_after: str) -> Response:
    return Response(503, {"retry-after": retry_after}, b"", NOW)


def stored(digest: str) -> Response:
    return answer(201, b'{"upload_id": "%s", "status": "committed"}' % digest.encode())


class Driven:
    """A flow driven by a list of answers; keeps what it asked for and how it ended."""

    def __init__(self, flow: Any, answers: list[Any]) -> None:
        self.sent: list[Request] = []
        self.slept: list[Sleep] = []
        self.result: Any = None
        self.error: UploaderError | None = None
        reply = None
        try:
            while True:
                step = flow.send(reply)
                match step:
                    case Send():
                        self.sent.append(step.request)
                        given = answers.pop(0)
                        reply = given(step.request) if callable(given) else given
                    case Sleep():
                        self.slept.append(step)
                        reply = None
                    case Divide():
                        reply = divide(step.sealed)
        except StopIteration as ended:
            self.result = ended.value
        except UploaderError as error:
            self.error = error
        assert not answers


def key(request: Request) -> str:
    return request.headers["Idempotency-Key"].removeprefix("sha256:")


def accept(request: Request) -> Response:
    return stored(key(request))


def upload(batch: SealedBatch, answers: list[Any], **arguments: Any) -> tuple[Driven, Delivery]:
    delivery = Delivery(batch)
    flow = upload_flow(delivery, CONFIG, upload_options(arguments), lambda: 0.5)  # type: ignore[arg-type]
    return Driven(flow, answers), delivery


def test_an_upload_is_the_request_of_the_contract() -> None:
    batch = sealed()
    driven, delivery = upload(batch, [accept], line_format="episode", context={"a": "b"})
    (request,) = driven.sent
    assert (request.method, request.url, request.params) == ("POST", "https://h/api/v1/traces", ())
    assert request.body is not None
    assert request.headers == {
        "Authorization": "Bearer key",
        "X-Prime-Team-ID": "team",
        "X-Prime-Line-Format": "episode",
        "Idempotency-Key": f"sha256:{batch.batch.digest}",
        "Content-Type": request.body.content_type,
        "Content-Length": str(request.body.content_length),
    }
    assert b'{"schema_version":1,"context":{"a":"b"}}' in b"".join(request.body.pieces())
    assert [receipt.upload_id for _, receipt in delivery.committed] == [batch.batch.digest]
    assert delivery.sealed is None


def test_bare_traces_have_no_line_format_header() -> None:
    driven, _ = upload(sealed(), [accept])
    assert "X-Prime-Line-Format" not in driven.sent[0].headers


RETRYABLE = [answer(status) for status in (408, 429, 500, 502, 503, 504)] + [TransportError("reset")]


@pytest.mark.parametrize("failure", RETRYABLE)
def test_the_very_same_request_is_sent_again(failure: Any) -> None:
    driven, delivery = upload(sealed(), [failure, failure, accept])
    assert driven.sent[0] is driven.sent[1] is driven.sent[2]
    assert [(sleep.delay_s, sleep.attempt) for sleep in driven.slept] == [(1, 1), (2, 2)]
    assert driven.slept[0].batch == delivery.committed[0][0]


@pytest.mark.parametrize("failure", RETRYABLE)
def test_attempts_end(failure: Any) -> None:
    driven, delivery = upload(sealed(), [failure] * 3, max_attempts=3)
    assert isinstance(driven.error, RetryableAPIError | TransportError)
    assert driven.error.attempts == 3
    assert "3 attempts" in str(driven.error)
    assert driven.error.batch == sealed().batch
    assert not delivery.committed


def test_retry_after_is_waited_for() -> None:
    driven, _ = upload(
        sealed(),
        [wait("3"), wait("Mon, 04 May 2026 12:00:45 GMT"), accept],
    )
    assert [sleep.delay_s for sleep in driven.slept] == [3, 45]


def test_a_wrong_key_stops_at_once() -> None:
    driven, _ = upload(sealed(), [answer(401)])
    assert len(driven.sent) == 1
    assert driven.error is not None


def test_a_batch_too_large_is_divided_until_it_fits() -> None:
    limit = 2
    seen: list[str] = []

    def gateway(request: Request) -> Response:
        assert request.body is not None
        seen.append(key(request))
        return accept(request) if key(request) in small else answer(413)

    halves = divide(sealed(5))
    quarters = divide(halves[1])
    small = {one.batch.digest for one in (halves[0], *quarters) if one.batch.num_lines <= limit}
    driven, delivery = upload(sealed(5), [gateway] * 5)
    assert [(batch.num_lines, batch.first_line_number) for batch, _ in delivery.committed] == [(2, 1), (1, 3), (2, 4)]
    assert [receipt.upload_id for _, receipt in delivery.committed] == [batch.digest for batch, _ in delivery.committed]
    assert driven.error is None


def test_a_line_too_large_is_refused_alone() -> None:
    driven, delivery = upload(sealed(2), [answer(413), accept, answer(413)])
    assert isinstance(driven.error, PayloadTooLargeError)
    assert driven.error.batch is not None
    assert (driven.error.batch.num_lines, driven.error.batch.first_line_number) == (1, 2)
    assert [batch.first_line_number for batch, _ in delivery.committed] == [1]


def test_a_part_that_is_rejected_is_named() -> None:
    driven, delivery = upload(sealed(2), [answer(413), accept, answer(400)])
    assert isinstance(driven.error, ValidationRejectedError)
    assert driven.error.batch is not None
    assert driven.error.batch.first_line_number == 2
    assert len(delivery.committed) == 1


GET = Request("GET", "https://h/api/v1/traces", (("limit", "5"),), CONFIG.headers())
POST = Request("POST", "https://h/api/v1/traces", (), CONFIG.headers())


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("location", ["/other", "https://h/other", "https://h:443/other"])
def test_an_upload_follows_within_the_origin(status: int, location: str) -> None:
    driven, delivery = upload(sealed(), [answer(status, location=location), accept])
    assert driven.sent[1].url.removeprefix("https://h").removeprefix(":443") == "/other"
    assert driven.sent[1].headers == driven.sent[0].headers
    assert driven.sent[1].body is driven.sent[0].body
    assert delivery.committed


@pytest.mark.parametrize(
    ("status", "location"),
    [
        (307, "https://evil/other"),
        (308, "http://h/api/v1/traces"),
        (307, "https://h:444/other"),
        (301, "/other"),
        (302, "/other"),
        (303, "/other"),
        (307, None),
        (307, "https://user:word@h/other"),
        (307, "ftp://h/x"),
        (307, "http://[::1"),
    ],
)
def test_an_upload_goes_nowhere_else(status: int, location: str | None) -> None:
    driven, _ = upload(sealed(), [Response(status, {"location": location} if location else {}, b"", NOW)])
    assert isinstance(driven.error, RedirectError)
    assert driven.error.status_code == status
    assert "word" not in str(driven.error)
    assert "PRIME_TRACES_URL" in str(driven.error)


def test_redirects_end() -> None:
    driven, _ = upload(sealed(), [answer(307, location="/again")] * 6)
    assert isinstance(driven.error, RedirectError)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_reading_elsewhere_goes_without_the_key(status: int) -> None:
    request = redirected(GET, answer(status, location="https://store/blob?signature=1"), 0, "")
    assert (request.url, request.params) == ("https://store/blob?signature=1", ())
    assert request.headers == {}
    assert redirected(GET, answer(status, location="/x"), 0, "").headers == CONFIG.headers()


def test_a_redirect_does_not_show_its_query() -> None:
    with pytest.raises(RedirectError) as caught:
        redirected(POST, answer(307, location="https://evil/x?token=word"), 0, "")
    assert caught.value.location == "https://evil/x"
    assert "word" not in str(caught.value)


def test_reading_is_repeated_and_asks_the_first_place_again() -> None:
    driven = Driven(
        read_flow(GET, None, CONFIG, RetryPolicy(), lambda: 0.5),
        [answer(302, location="https://store/x"), answer(503), answer(200, b"{}")],
    )
    assert [request.url for request in driven.sent] == [GET.url, "https://store/x", GET.url]
    assert driven.result.body == b"{}"


def test_the_key_stays_out_of_reprs() -> None:
    assert "Bearer" not in repr(Send(GET))
