"""Where the key never goes: elsewhere, nor into what is shown, whoever repeats it."""

import logging
import traceback
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import uploader
from tests.uploader.faces import KEY, Face, both, lines
from tests.uploader.test_client_reading import RUN
from uploader.testing import ScriptedTransport, fake_time, json_response, refusal


@both
@pytest.mark.parametrize("location", ["http://elsewhere.test/api/v1/traces", "https://service.test/api/v1/traces"])
def test_an_upload_is_not_redirected_elsewhere(face: Face, location: str) -> None:
    transport = ScriptedTransport([httpx.Response(307, headers={"Location": location})])
    with pytest.raises(uploader.RedirectError, match="PRIME_TRACES_URL"):
        face.call(transport, "upload_lines", lines(1))
    assert len(transport.requests) == 1


@both
def test_reading_is_redirected_without_the_key(face: Face) -> None:
    transport = ScriptedTransport(
        [httpx.Response(302, headers={"Location": "https://store.test/blob"}), httpx.Response(200, content=b"raw")]
    )
    assert face.call(transport, "get_raw", "t") == b"raw"
    first, second = transport.requests
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert str(second.url) == "https://store.test/blob"
    assert KEY not in str(second.headers.raw)


@both
def test_the_key_is_nowhere_to_be_seen(face: Face, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    script: list[Any] = [
        refusal(503, f"x_{KEY}", f"bad {KEY}"),
        httpx.ConnectError("refused"),
        httpx.Response(401, text=f"the key {KEY} is wrong"),
    ]
    shown: list[str] = []

    def act(client: Any) -> Any:
        shown.append(f"{client!r} {client} {client.config!r} {vars(client)}")
        return client.upload_lines(lines(1), on_retry=lambda retry: shown.append(repr(retry)))

    with fake_time(), pytest.raises(uploader.UnauthorizedError) as caught:
        face.use(ScriptedTransport(script), act)
    assert "retr" in str(caplog.text).lower() or "attempt" in caplog.text
    for text in (*shown, caplog.text, str(caught.value), repr(caught.value), str(vars(caught.value))):
        assert KEY not in text


def call(client: Any, method: str, args: list[Any]) -> Any:
    return getattr(client, method)(*args)


def repeating(text: str) -> Exception:
    """A transport's error that repeats the key, with causes that do, too."""
    error = httpx.ConnectError(f"proxy: {text}")
    error.__cause__ = OSError(111, f"socket: {text}")
    error.__cause__.__cause__ = ExceptionGroup("several", [ValueError(f"inner: {text}")])
    return error


@both
@pytest.mark.parametrize("key", [KEY, "pk/with?odd+'\"\\%chars", "PK-Upper"])
def test_nobody_elses_text_shows_the_key(face: Face, key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    quoted = quote(key, safe="")
    places = [f"/x/{quoted}", f"https://{key.lower()}.test/" if key.isascii() and "/" not in key else f"/{quoted}/y"]
    failures: list[Any] = [*(repeating(text) for text in (key, quoted, repr(key))),
                *(httpx.Response(status, headers={"Location": place}) for place in places for status in (302, 307)),
                httpx.Response(400, text=f"bad {quoted} {key.upper()}"),
                json_response(200, RUN | {"context": {key: 5}})]  # fmt: skip
    for failure in failures:
        for method, args in (("get_run", ["r"]), ("upload_lines", [lines(1)])):
            with fake_time(), pytest.raises(uploader.APIError) as caught:
                face.use(ScriptedTransport([failure] * 5), partial(call, method=method, args=args), api_key=key)
            caught.value.__traceback__ = None
            shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(caught.value))
            for form in (key, quoted, key.lower(), repr(key)[1:-1]):
                assert form not in shown
                assert form not in caplog.text


@both
def test_a_redirect_that_repeats_the_key_is_not_followed(face: Face) -> None:
    transport = ScriptedTransport([httpx.Response(302, headers={"Location": f"https://store.test/?key={KEY}"})])
    with pytest.raises(uploader.RedirectError):
        face.call(transport, "get_raw", "t")
    assert len(transport.requests) == 1
