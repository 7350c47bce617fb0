"""What both clients are made of: settings, the HTTP client's options, and the flows they drive."""

import inspect
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TypedDict, TypeVar

import httpx
from pydantic import BaseModel

from uploader.arguments import check_hook, usable_timeout
from uploader.clock import get_clock
from uploader.config import load_config
from uploader.errors import ConfigurationError
from uploader.exchange import RawTarget, Request, Response
from uploader.flow import Delivery, Flow, read_flow, upload_flow
from uploader.options import RecordHook, UploadArguments, UploadOptions, upload_options
from uploader.reading import Question
from uploader.responses import model_from
from uploader.retry import RetryPolicy

ModelT = TypeVar("ModelT", bound=BaseModel)

CONNECT_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 120.0
"""For each read and each write: the service answers an upload only once it is on disk."""


class HTTPOptions(TypedDict):
    """What both HTTP clients are made with. The key is not among it: each request carries it, or does not."""

    timeout: httpx.Timeout
    follow_redirects: bool
    headers: dict[str, str]


class Session:
    """The settings of a client.

    Attributes:
        config: whom to talk to, and as whom.
    """

    def __init__(self, api_key: str | None, base_url: str | None, team_id: str | None) -> None:
        self.config = load_config(api_key, base_url, team_id)

    @property
    def base_url(self) -> str:
        """The service's address, without `/api/v1`."""
        return self.config.base_url

    @property
    def team_id(self) -> str:
        """The team that uploads are for; empty for none."""
        return self.config.team_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r}, team_id={self.team_id!r})"

    def _begin(
        self, arguments: UploadArguments, on_record_error: RecordHook | None = None, *, hooks_may_wait: bool
    ) -> UploadOptions:
        """Check everything that can be checked before the source is touched."""
        options = upload_options(arguments)
        check_hook("on_record_error", on_record_error)
        if not hooks_may_wait:
            hooks = {"on_batch": options.on_batch, "on_retry": options.on_retry, "on_record_error": on_record_error}
            for name, hook in hooks.items():
                if inspect.iscoroutinefunction(hook):
                    raise ConfigurationError(name, "a coroutine function needs the AsyncTracesClient")
        self.config.headers()
        return options

    def _upload_flow(self, delivery: Delivery, options: UploadOptions) -> Flow[None]:
        return upload_flow(delivery, self.config, options, get_clock().jitter)

    def _read_flow(self, request: Request, target: RawTarget | None = None) -> Flow[Response]:
        return read_flow(request, target, self.config, RetryPolicy(), get_clock().jitter)

    def _ask_flow(self, question: Question[ModelT]) -> Flow[ModelT]:
        response = yield from self._read_flow(question.request(self.config))
        return model_from(response, question.answer, self.config.api_key)


def http_options(timeout: float | httpx.Timeout | None) -> HTTPOptions:
    """The options of an HTTP client.

    Args:
        timeout: seconds for each step of an exchange, or httpx's own object; by default 10 s to connect and 120 s
            for each read and write.

    Raises:
        ConfigurationError: it is no time limit.
    """
    if timeout is None:
        timeout = httpx.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    headers = {"User-Agent": _user_agent()}
    return HTTPOptions(timeout=usable_timeout(timeout), follow_redirects=False, headers=headers)


@cache
def _user_agent() -> str:
    try:
        return f"unstall/{version('unstall')}"
    except PackageNotFoundError:  # run from a source tree
        return "unstall"
