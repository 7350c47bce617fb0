"""What one exchange with the service is made of: a request, its body, the answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

ERROR_BODY_BYTES = 64 * 1024
"""How much of a refusal's body is read: a message, not a download."""
RECEIPT_BODY_BYTES = 1024 * 1024
"""A receipt is a hundred bytes; what goes on longer than this is none."""
PAGE_BODY_BYTES = 512 * 1024 * 1024
"""A page of nodes holds messages of megabytes; this only stops an answer without an end."""


class RequestBody(Protocol):
    """A body of known length that can be read again for every attempt."""

    @property
    def content_type(self) -> str:
        """The value of the Content-Type header."""

    @property
    def content_length(self) -> int:
        """How many bytes `pieces` yields in all."""

    def pieces(self) -> Iterator[bytes]:
        """The body from its beginning, in pieces small enough for one write each."""


class RawTarget(Protocol):
    """Where a raw download goes; a failed attempt is thrown away by `restart`.

    Attributes:
        blocks: whether its methods wait for a disk, so that an event loop must not call them.
    """

    blocks: bool

    def restart(self) -> None:
        """Forget what an earlier attempt wrote."""

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""


@dataclass(frozen=True)
class Request:
    """One request. Its headers hold the key, so they stay out of its repr.

    Attributes:
        method: GET, POST or PUT.
        url: without the query.
        params: the query, in order; names may repeat.
        headers: all but what the body and the HTTP library add.
        body: what is sent, None for a GET.
        max_answer_bytes: how much of a successful answer is read.
    """

    method: str
    url: str
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: RequestBody | None = field(default=None, repr=False)
    max_answer_bytes: int = PAGE_BODY_BYTES


@dataclass(frozen=True)
class Response:
    """One answer.

    Attributes:
        status: the HTTP status.
        headers: names in lower case.
        body: the decoded body, cut at the request's limit; empty when it went to a raw target.
        received_at: when, on the wall clock; an HTTP date is read against it.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    received_at: datetime

    @property
    def is_success(self) -> bool:
        """Whether the status is one of the 2xx."""
        return 200 <= self.status < 300
