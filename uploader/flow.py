"""The whole conversation with the service, as generators without sockets, clocks or threads.

A flow yields what it wants done and is sent the outcome:

    Send    do one HTTP exchange            <- Response, or TransportError as a value
    Sleep   wait before the next attempt    <- None
    Divide  make two batches out of one     <- the two sealed batches, or the one if it cannot be done

It ends by returning, or by raising a typed error. Retries, back-off, `Retry-After`, redirects and division live here
and nowhere else; `uploader.pumps` has the two shells that do what is asked.

Redirects are followed by hand, since the HTTP library would decide otherwise: at the same origin with everything, to
another one only when reading, and then without the key. An upload elsewhere is an error that names the address.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import httpx

from uploader.config import Config
from uploader.errors import APIError, PayloadTooLargeError, RedirectError, RetryableAPIError, TransportError
from uploader.exchange import RECEIPT_BODY_BYTES, RawTarget, Request, Response
from uploader.models import Batch, UploadReceipt
from uploader.multipart import build_body
from uploader.options import UploadOptions
from uploader.responses import error_from, receipt_from
from uploader.retry import RetryPolicy, Sleep
from uploader.sealing import SealedBatch
from uploader.striking import strike_out, strike_out_of

ResultT = TypeVar("ResultT")
Jitter: TypeAlias = Callable[[], float]

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REPEATING_REDIRECTS = frozenset({307, 308})
"""These alone ask for the same method and body again."""
_WRITING = frozenset({"POST", "PUT"})
_PRIVATE_HEADERS = frozenset({"authorization", "x-prime-team-id"})


@dataclass(frozen=True)
class Send:
    """Do one exchange. With a target, the body of a success goes there, from its beginning."""

    request: Request
    target: RawTarget | None = None


@dataclass(frozen=True)
class Divide:
    """Make two batches out of one, each with half of the lines."""

    sealed: SealedBatch


@dataclass
class Delivery:
    """One sealed batch on its way, and what has become of it.

    Attributes:
        sealed: the batch; None once it is no longer needed, so that its bytes can go.
        committed: what was stored of it: the batch, or the parts that it was divided into.
    """

    sealed: SealedBatch | None
    committed: list[tuple[Batch, UploadReceipt]] = field(default_factory=list)


Step: TypeAlias = Send | Sleep | Divide
Reply: TypeAlias = Response | TransportError | tuple[SealedBatch, ...] | None
Flow: TypeAlias = Generator[Step, Reply, ResultT]


def upload_flow(delivery: Delivery, config: Config, options: UploadOptions, jitter: Jitter) -> Flow[None]:
    """Upload a batch until all of it is committed; each receipt is added to `delivery.committed` as it comes.

    CONTRACT: on 413 "split the batch, or reject the line".

    Raises:
        APIError: the batch, or a part of it, was refused or could not be sent.
    """
    waiting = [delivery.sealed]
    delivery.sealed = None
    while waiting:
        sealed = waiting.pop()
        assert sealed is not None  # noqa: S101 - a delivery is driven once
        try:
            receipt = yield from attempt_flow(sealed, config, options, jitter)
        except PayloadTooLargeError as error:
            halves = (yield Divide(sealed)) if sealed.batch.num_lines > 1 else (sealed,)
            assert isinstance(halves, tuple)  # noqa: S101 - the pump's promise
            if len(halves) == 1:
                error.batch = sealed.batch
                raise
            waiting += reversed(halves)
        except APIError as error:
            error.batch = sealed.batch
            raise
        else:
            delivery.committed.append((sealed.batch, receipt))


def attempt_flow(sealed: SealedBatch, config: Config, options: UploadOptions, jitter: Jitter) -> Flow[UploadReceipt]:
    """Upload a batch as it is, in as many attempts as the options allow.

    Raises:
        APIError: the batch was refused or could not be sent.
    """
    body = build_body(sealed, options.metadata)
    headers = {
        **config.headers(),
        **options.headers,
        **body.headers,
        "Idempotency-Key": sealed.batch.idempotency_key,
    }
    request = Request("POST", config.url("/traces"), (), headers, body, RECEIPT_BODY_BYTES)
    response = yield from _exchange(request, None, config, options.policy, jitter, sealed.batch)
    return receipt_from(response, sealed.batch.digest)


def read_flow(
    request: Request, target: RawTarget | None, config: Config, policy: RetryPolicy, jitter: Jitter
) -> Flow[Response]:
    """Read something, or write what may be repeated; a broken download starts again.

    Raises:
        APIError: it was refused, or there was no answer.
    """
    return (yield from _exchange(request, target, config, policy, jitter, None))


def _exchange(
    request: Request,
    target: RawTarget | None,
    config: Config,
    policy: RetryPolicy,
    jitter: Jitter,
    batch: Batch | None,
) -> Flow[Response]:
    """Send one request until its answer is final."""
    asked, hops = request, 0
    while True:
        answer = yield Send(asked, target)
        if isinstance(answer, Response) and answer.status in _REDIRECTS:
            asked, hops = redirected(asked, answer, hops, config.api_key), hops + 1
            continue
        assert isinstance(answer, Response | TransportError)  # noqa: S101 - the pump's promise
        if isinstance(answer, TransportError):
            strike_out_of(answer, config.api_key)
        error = answer if isinstance(answer, TransportError) else error_from(answer, config.api_key)
        if error is None:
            assert isinstance(answer, Response)  # noqa: S101
            return answer
        error.attempts = policy.failures + 1
        retry = None
        if isinstance(error, RetryableAPIError | TransportError):
            retry = policy.after_failure(getattr(error, "retry_after", None), jitter())
        if retry is None:
            try:
                raise error
            finally:
                del error, answer  # or the error, its traceback and this frame would hold each other, and the body
        policy = retry.policy
        yield Sleep(retry.delay_s, policy.failures, error, batch)
        asked, hops = request, 0  # a redirect is asked for anew: it may have been temporary


def redirected(request: Request, response: Response, hops: int, api_key: str) -> Request:
    """The request that a redirect asks for.

    Args:
        request: what was asked.
        response: the redirect.
        hops: how many redirects came before.
        api_key: what must not appear in an error, nor go to whom a redirect names.

    Raises:
        RedirectError: it is not followed: too many, no usable place, an upload elsewhere or by another method, a place
            that repeats the key.
    """
    status = response.status
    try:
        origin = httpx.URL(request.url)
        target = origin.join(response.headers.get("location", ""))
    except httpx.InvalidURL:
        raise RedirectError("the service redirects to an invalid address", status_code=status) from None
    location = strike_out(str(target.copy_with(userinfo=b"", query=None, fragment=None)), api_key)
    same_origin = _origin(target) == _origin(origin)
    followed = (
        hops < MAX_REDIRECTS
        and "location" in response.headers
        and target.scheme in ("http", "https")
        and not target.userinfo
        and strike_out(str(target), api_key) == str(target)
        and (status in _REPEATING_REDIRECTS and same_origin if request.method in _WRITING else True)
    )
    if not followed:
        raise RedirectError(f"the service redirects to {location}", status_code=status, location=location)
    headers = request.headers
    if not same_origin:
        headers = {name: value for name, value in headers.items() if name.lower() not in _PRIVATE_HEADERS}
    # The place already has its query; httpx would append ours again.
    return replace(request, url=str(target), params=(), headers=headers)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)
