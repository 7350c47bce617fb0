"""The traces service as a sink."""

import asyncio
import importlib
from collections.abc import Mapping
from contextlib import suppress

import httpx

from uploader.arguments import check_transport
from uploader.clock import get_clock
from uploader.config import Config
from uploader.errors import APITimeoutError, TransportError
from uploader.exchange import RawTarget, Request, Response
from uploader.flow import attempt_flow
from uploader.models import LineFormat, UploadReceipt
from uploader.options import UploadArguments, UploadOptions, upload_options
from uploader.pumps import apump, exchange
from uploader.session import http_options
from uploader.sinks.base import SinkBatch
from uploader.spool.batches import Destination

# httpcore imports these with the first request: 20 to 70 ms.
for _name in ("anyio._backends._asyncio", "anyio.streams.tls"):
    with suppress(ImportError):
        importlib.import_module(_name)

_PATIENCE_S = 300.0
_SLOWEST_BYTES_PER_S = 50_000
"""A service that takes a body byte by byte, or answers so, is never too late for the limits of single reads and writes:
an attempt as a whole may take five minutes, and what the slowest line needs for the body."""

_left_behind: list[httpx.AsyncClient | None] = []
"""Clients of loops that are gone; to collect one would close sockets that may be a parent process's."""


class TracesSink:
    """Sends batches to the traces service, one attempt each time. It is used on one event loop.

    Args:
        config: whom to talk to, and as whom.
        name: tells it from other sinks, by default `traces`, or what the destination says.
        destination: whose batches it takes, by default those logged for the service and team of `config`.
        timeout: seconds for each step of an exchange, or httpx's own object.
        transport: an httpx transport to use instead of the network.

    Raises:
        ConfigurationError: a setting cannot be used.
    """

    def __init__(
        self,
        config: Config,
        *,
        name: str | None = None,
        destination: Destination | None = None,
        timeout: float | httpx.Timeout | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        check_transport(transport, "handle_async_request")
        self._config = config
        self._name = name or (destination.sink if destination else "traces")
        self._destination = destination or Destination(self._name, config.base_url, config.team_id)
        self._http_options = http_options(timeout)
        self._transport = transport
        self._http: httpx.AsyncClient | None = None
        self._options: dict[tuple[LineFormat, frozenset[tuple[str, str]]], UploadOptions] = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def config(self) -> Config:
        """Whom it talks to, and as whom."""
        return self._config

    @property
    def destination(self) -> Destination:
        """Where it sends to."""
        return self._destination

    async def start(self, run_id: str) -> None:
        """Open a client for this event loop; the client of another one, like a forked parent's, is left as it is.

        Raises:
            MissingAPIKeyError: there is no key, so there is no request.
        """
        self._config.headers()
        _left_behind.append(self._http)
        self._http = httpx.AsyncClient(**self._http_options, transport=self._transport)
        self._never = asyncio.Event()

    async def send(self, batch: SinkBatch) -> UploadReceipt:
        """Send one batch, once.

        Raises:
            APIError: the service refused it, or there was no answer.
        """
        limit_s = _PATIENCE_S + batch.sealed.compressed_size / _SLOWEST_BYTES_PER_S
        options = self._options_for(batch.line_format, batch.context)
        flow = attempt_flow(batch.sealed, self._config, options, get_clock().jitter)
        try:
            async with asyncio.timeout(limit_s):
                return await apump(flow, self._exchange, self._never)
        except TimeoutError:
            raise APITimeoutError(
                f"no whole answer from {self._config.base_url} within {limit_s:.0f} s, though bytes still came or went"
            ) from None

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def _exchange(self, request: Request, target: RawTarget | None) -> Response | TransportError:
        assert self._http is not None  # noqa: S101 - it was started
        return await exchange(self._http, request, target)

    def _options_for(self, line_format: LineFormat, context: Mapping[str, str]) -> UploadOptions:
        key = (line_format, frozenset(context.items()))
        if key not in self._options:
            arguments = UploadArguments(line_format=line_format, context=context, max_attempts=1)
            self._options[key] = upload_options(arguments)
        return self._options[key]
