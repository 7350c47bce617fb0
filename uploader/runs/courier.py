"""Makes the platform's requests, each on the thread that asks."""

import threading
from typing import Final

import httpx

from uploader.errors import ForbiddenError, PaymentRequiredError, UnauthorizedError
from uploader.flow import Flow
from uploader.pumps import ResultT, StoppedError, pump
from uploader.runs.background import blocking_transport, within
from uploader.runs.platform import Opened, Platform
from uploader.runs.spec import RunSpec
from uploader.session import http_options

STEP_TIMEOUT_S: Final = 10.0
"""For each step of an exchange."""

ACCOUNT_ERRORS: Final = (UnauthorizedError, PaymentRequiredError, ForbiddenError)
"""What no other request would fare better with, but the same one with another key may."""


class Courier:
    """Makes the requests of the platform's flows, each on the thread that asks.

    Args:
        platform: makes the flows.
        transport: instead of the network.
        timeout_s: for each step of an exchange.
    """

    def __init__(
        self,
        platform: Platform,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_s: float = STEP_TIMEOUT_S,
    ) -> None:
        self.platform = platform
        self._transport = blocking_transport(transport)
        self._timeout_s = timeout_s

    def run(self, flow: Flow[ResultT], stop: threading.Event) -> ResultT:
        """Make a flow's requests.

        Raises:
            StoppedError: the event was set between two requests.
            APIError: the flow's own.
        """
        # A client for each: rows come seconds apart, and a connection that was kept would be of no use after a fork.
        with httpx.Client(**http_options(self._timeout_s), transport=_Borrowed.of(self._transport)) as client:
            return pump(flow, client, stop)


class _Borrowed(httpx.BaseTransport):
    """A transport that is not closed with the client that uses it."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.handle_request = transport.handle_request  # type: ignore[method-assign]

    @classmethod
    def of(cls, transport: httpx.BaseTransport | None) -> httpx.BaseTransport | None:
        return None if transport is None else cls(transport)


def open_on_platform(courier: Courier, spec: RunSpec, timeout_s: float) -> Opened:
    """Open a run, within a limit of time.

    Raises:
        APIError: it was refused, or it is unknown whether it was opened.
        TimeoutError: it was not opened in time.
    """
    flow = courier.platform.open(spec)
    try:
        return within(timeout_s, lambda stop: courier.run(flow, stop), "uploader-run-open")
    except StoppedError:
        raise TimeoutError(f"the platform did not open the run within {timeout_s:g} s") from None
