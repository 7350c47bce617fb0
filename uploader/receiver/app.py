"""The ASGI application: routes, the token, and errors as the contract words them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from uploader.receiver import details, queries, runs
from uploader.receiver.answers import Answer
from uploader.receiver.auth import check_bearer
from uploader.receiver.body import RefusedUpload, RequestBody
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.filters import Params, parse_flag
from uploader.receiver.run_requests import MAX_BODY_BYTES
from uploader.receiver.run_routes import OPENING, RUN_ROUTES, RunAction, RunRequest, answer
from uploader.receiver.settings import ReceiverSettings
from uploader.receiver.store import Store
from uploader.receiver.upload import UploadHandler

_API: Final = "/api/v1"
#: Reads at once; each may hold one record.
_READERS: Final = 4

Query = Callable[..., Answer]
Endpoint = Callable[[Request], Any]


def create_app(settings: ReceiverSettings, store: Store | None = None) -> ASGIApp:
    """The receiver as an ASGI application; its lifespan ends with closing the store.

    Args:
        settings: where it stores and what it allows.
        store: the opened data directory; opened at start-up when it is not given.
    """
    return _RawPaths(_Receiver(settings, store).app)


class _RawPaths:
    """Routes on the path as it was sent, so that a percent-encoded slash stays within an id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            # The raw path is optional in ASGI; without it an encoded slash can't be told from a plain one.
            raw_path = scope.get("raw_path") or quote(scope["path"]).encode()
            scope = {**scope, "path": raw_path.decode("latin-1")}
        await self._app(scope, receive, send)


class _Receiver:
    """One receiver: its store, its limiters and its routes."""

    def __init__(self, settings: ReceiverSettings, store: Store | None) -> None:
        self._settings = settings
        self._opened_store = store
        self._store: Store
        self._uploads: UploadHandler
        self._readers: anyio.CapacityLimiter
        self.app = Starlette(
            routes=[
                Route("/healthz", self._health, methods=["GET"]),
                Route(f"{_API}/traces", self._traces, methods=["GET", "POST"]),
                self._route("/traces/{id}", queries.get_trace, kind="trace"),
                self._route("/traces/{id}/nodes", details.list_nodes, pages=True),
                self._route("/traces/{id}/calls", details.list_calls, pages=True),
                self._route("/episodes", queries.list_episodes, pages=True),
                self._route("/episodes/{id}", queries.get_episode, kind="episode"),
                self._route("/episodes/{id}/traces", queries.list_episode_traces, pages=True),
                self._route("/runs", runs.list_runs, pages=True),
                self._route("/runs/{id}", runs.get_run),
                self._route("/runs/{id}/steps", runs.list_run_steps),
                *(self._run_route(path, actions) for path, actions in RUN_ROUTES.items()),
            ],
            exception_handlers={
                RequestRefusedError: _on_refusal,
                HTTPException: _on_http_error,
                ClientDisconnect: _on_disconnect,
                Exception: _on_crash,
            },
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False

    def _lifespan(self, app: Starlette) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def opened() -> AsyncIterator[None]:
            store = self._opened_store
            if store is None:
                store = await anyio.to_thread.run_sync(Store, self._settings.data_dir)
            self._store = store
            self._uploads = UploadHandler(self._settings, self._store)
            self._readers = anyio.CapacityLimiter(_READERS)
            try:
                yield
            finally:
                store.close()

        return opened()

    def _route(self, path: str, query: Query, *, pages: bool = False, kind: str | None = None) -> Route:
        """A route that answers with a query's JSON.

        Args:
            path: below the API's root.
            query: takes the store, the id if the path has one, and the parameters if it pages.
            pages: whether the query takes parameters.
            kind: of the record whose stored bytes are sent for `?raw=true`.
        """

        async def endpoint(request: Request) -> Response:
            self._authorize(request)
            params = _params(request)
            arguments: list[object] = []
            if "id" in request.path_params:
                record_id = _record_id(request)
                if kind is not None and _wants_raw(params):
                    return await self._raw(kind, record_id)
                arguments.append(record_id)
            if pages:
                arguments.append(params)
            return _json(await self._read(partial(query, self._store, *arguments)))

        return Route(f"{_API}{path}", endpoint, methods=["GET"])

    def _run_route(self, path: str, actions: Mapping[str, RunAction]) -> Route:
        """A route of the platform: what each method does."""

        async def endpoint(request: Request) -> Response:
            self._authorize(request)
            body = RequestBody(request, MAX_BODY_BYTES, self._settings.body_timeout_s)
            run_id = _record_id(request) if "id" in request.path_params else ""
            asked = RunRequest(run_id, b"".join([chunk async for chunk in body.chunks()]), _url(request))
            action = actions["GET" if request.method == "HEAD" else request.method]
            answered = await self._read(partial(answer, action, self._store, asked, self._settings.retry_after_s))
            return _json(answered, 201 if action in OPENING else 200)

        return Route(f"{_API}{path}", endpoint, methods=[*actions])

    async def _traces(self, request: Request) -> ASGIApp:
        if request.method == "POST":
            return await self._upload(request)
        self._authorize(request)
        return _json(await self._read(partial(queries.list_traces, self._store, _params(request))))

    async def _upload(self, request: Request) -> ASGIApp:
        body = self._uploads.body_of(request)
        try:
            return _json(await self._uploads.receive(request.headers, body), 201)
        except RequestRefusedError as error:
            refusal = _on_refusal(request, error)
            return refusal if body.is_whole else RefusedUpload(refusal, body)

    async def _health(self, request: Request) -> Response:
        admission = self._uploads.admission
        return _json(
            {
                "status": "ok",
                "uploads_in_flight": admission.in_flight,
                "most_uploads_in_flight": admission.most_in_flight,
                "uploads_refused": admission.refused,
            }
        )

    async def _raw(self, kind: str, record_id: str) -> Response:
        stored = await self._read(partial(queries.read_raw, self._store, kind, record_id))
        headers = {"content-length": str(stored.size)}
        return StreamingResponse(stored.pieces, media_type="application/json", headers=headers)

    async def _read(self, query: Callable[[], Any]) -> Any:
        return await anyio.to_thread.run_sync(query, limiter=self._readers)

    def _authorize(self, request: Request) -> None:
        check_bearer(request.headers.get("authorization"), self._settings.api_key)


def _params(request: Request) -> Params:
    return request.query_params.multi_items()


def _wants_raw(params: Params) -> bool:
    """Whether the only parameter is `raw=true`.

    Raises:
        RequestRefusedError: `invalid_filter`, for another parameter or an unusable value.
    """
    for name, _ in params:
        if name != "raw":
            raise RequestRefusedError("invalid_filter", f"{name[:100]!r} is no parameter here.")
    try:
        return True in {bool(parse_flag(value)) for _, value in params}
    except ValueError as error:
        raise RequestRefusedError("invalid_filter", f"raw has an unusable value: {error}.") from error


def _record_id(request: Request) -> str:
    try:
        return unquote_to_bytes(request.path_params["id"]).decode()
    except UnicodeDecodeError as error:
        message = "The id in the path is not UTF-8: nothing is stored under such an id."
        raise RequestRefusedError("not_found", message) from error


def _url(request: Request) -> str:
    return str(request.url.replace(query="", fragment=""))


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefusedError)  # noqa: S101 - Starlette gives a handler its own class
    headers = {}
    if error.retry_after_s is not None:
        headers["retry-after"] = f"{error.retry_after_s:.0f}"
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return _json(error.body(), error.status, headers)


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - likewise
    if error.status_code == 405:
        refusal = RequestRefusedError("method_not_allowed", f"{request.method} is not served here.")
    else:
        refusal = RequestRefusedError("not_found", "Nothing is served here: the API starts at /api/v1.")
    return _json(refusal.body(), error.status_code, dict(error.headers or {}))


def _on_disconnect(request: Request, error: Exception) -> Response:
    # Nobody is left to read it.
    return Response(status_code=400)


def _on_crash(request: Request, error: Exception) -> Response:
    refusal = RequestRefusedError("internal_error", "The receiver failed: its log says why.")
    return _json(refusal.body(), refusal.status)
