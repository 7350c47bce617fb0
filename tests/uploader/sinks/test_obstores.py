import subprocess
import sys
from typing import Any

import pytest
from obstore.store import S3Store

from uploader.delivery.verdicts import Verdict, verdict_on
from uploader.errors import ConfigurationError, StoreError, StoreRefusedError
from uploader.sinks import obstores
from uploader.sinks.obstores import StoreAccess, claim, open_store, store_error, whole_place
from uploader.sinks.places import Place, parse_place


def place(text: str) -> Place:
    return parse_place("url", text)


@pytest.mark.parametrize(
    ("text", "config", "environment", "told"),
    [
        ("s3://b/p", {}, {}, "s3://b/p"),
        ("s3://b/p", {}, {"AWS_ENDPOINT_URL": "http://env"}, "s3://b/p?endpoint=http://env"),
        (
            "s3://b/p",
            {},
            {"AWS_ENDPOINT_URL": "http://env", "AWS_ENDPOINT_URL_S3": "http://s3"},
            "s3://b/p?endpoint=http://s3",
        ),
        ("s3://b/p", {"Endpoint": "http://arg"}, {"AWS_ENDPOINT_URL": "http://env"}, "s3://b/p?endpoint=http://arg"),
        ("s3://b/p?endpoint=http://url", {"endpoint": "http://arg"}, {}, "s3://b/p?endpoint=http://url"),
        ("s3://b/p", {"region": "eu"}, {"AWS_REGION": "eu"}, "s3://b/p"),
        ("gs://b/p", {}, {"GOOGLE_BASE_URL": "http://env"}, "gs://b/p?endpoint=http://env"),
        ("gs://b/p", {}, {"BASE_URL": "http://stranger"}, "gs://b/p"),
        ("az://b/p", {}, {"AZURE_STORAGE_ACCOUNT_NAME": "me"}, "az://b/p?account=me"),
        ("az://b/p", {"account_name": "arg"}, {}, "az://b/p?account=arg"),
        ("/folder", {}, {"AWS_ENDPOINT_URL": "http://env"}, "file:///folder"),
    ],
)
def test_a_place_is_whole_without_the_environment(
    text: str, config: dict[str, str], environment: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    whole = whole_place(place(text), config)
    assert str(whole) == told
    assert whole_place(parse_place("url", told), {}) == whole


def test_what_the_address_says_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://env")
    access = StoreAccess({"Endpoint": "https://arg", "region": "us", "skip_signature": True})
    store = open_store(place("s3://b/p?endpoint=https://url&region=eu"), access)
    assert isinstance(store, S3Store)
    assert store.config["endpoint"] == "https://url"
    assert store.config["region"] == "eu"
    assert store.config["bucket"] == "b"


def test_a_variable_that_obstore_would_heed_instead_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://elsewhere")
    with pytest.raises(ConfigurationError, match="AWS_ENDPOINT_URL_S3 says http://elsewhere"):
        open_store(place("s3://b/p?endpoint=http://url"), StoreAccess())
    open_store(place("s3://b/p?endpoint=http://elsewhere"), StoreAccess())


@pytest.mark.parametrize("access", [StoreAccess({"nonsense": "1"}), StoreAccess({}, {"nonsense": "1"})])
def test_settings_that_obstore_does_not_know(access: StoreAccess) -> None:
    with pytest.raises(ConfigurationError, match="nonsense") as caught:
        open_store(place("s3://b/p"), access)
    assert "Debug" not in str(caught.value)


def test_without_the_package_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["obstore"] = None
import uploader
try:
    uploader.ObjectStoreSink("s3://bucket/a")
except uploader.ConfigurationError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "url: an object store needs the package obstore: pip install 'unstall[stores]'\n"


def test_importing_the_sinks_does_not_import_it() -> None:
    code = "import sys, uploader; uploader.ObjectStoreSink, uploader.FileSink; print('obstore' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


NO_ANSWER = """\
Generic S3 error: Error performing PUT http://host/b/a?sig=secret in 1ms - HTTP error: error sending request

Debug source:
HttpError { kind: Connect, sig=secret"""


def answer(status: int, body: str = "") -> str:
    return (
        "Generic S3 error: Error performing PUT http://host/b/a?X-Signature=secret in 1ms - "
        f"Server returned non-2xx status code: {status} Some Words: {body}\n\nDebug source:\nstatus: {status}"
        "\nsignature: secret"
    )


@pytest.mark.parametrize(
    ("text", "verdict", "told"),
    [
        (
            answer(503, "<Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>"),
            Verdict.LATER,
            "HTTP 503 SlowDown: Reduce your rate",
        ),
        (answer(429), Verdict.LATER, "HTTP 429"),
        (answer(500), Verdict.AGAIN, "HTTP 500"),
        (answer(507), Verdict.AGAIN, "HTTP 507"),
        (answer(404, "<Error><Code>NoSuchBucket</Code></Error>"), Verdict.AGAIN, "HTTP 404 NoSuchBucket"),
        (answer(301), Verdict.AGAIN, "HTTP 301"),
        (answer(409), Verdict.AGAIN, "HTTP 409"),
        (answer(400, "<Code>RequestTimeout</Code>"), Verdict.AGAIN, "HTTP 400 RequestTimeout"),
        (answer(400, "<Code>ExpiredToken</Code>"), Verdict.STOP, "HTTP 400 ExpiredToken"),
        (answer(401), Verdict.STOP, "HTTP 401"),
        (answer(403, "<Code>InvalidAccessKeyId</Code>"), Verdict.STOP, "HTTP 403 InvalidAccessKeyId"),
        (answer(413), Verdict.DIVIDE, "HTTP 413"),
        (NO_ANSWER, Verdict.AGAIN, "PUT http://host/b/a in 1ms - HTTP error: error sending request (Connect)"),
    ],
)
def test_what_an_answer_means(text: str, verdict: Verdict, told: str) -> None:
    error = store_error(place("s3://b/p"), RuntimeError(text))
    assert verdict_on(error) is verdict
    assert told in str(error)
    assert "s3://b/p" in str(error)
    assert "secret" not in str(error)
    assert error.__cause__ is None


def test_an_answer_s_status_is_kept() -> None:
    for status in (503, 403, 404):
        error = store_error(place("s3://b/p"), RuntimeError(answer(status)))
        assert isinstance(error, StoreError)
        assert error.status_code == status


def test_a_refusal_without_a_status() -> None:
    class PermissionDeniedError(Exception):
        """As obstore's, of a folder."""

    error: Any = PermissionDeniedError("Generic LocalFileSystem error: Permission denied (os error 13)")
    assert verdict_on(store_error(place("/folder"), error)) is Verdict.STOP


def test_a_forked_process_is_told_that_it_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obstores, "_user", None)
    claim(place("s3://b/p"))
    claim(place("s3://b/p"))
    monkeypatch.setattr(obstores, "_user", 1)
    with pytest.raises(StoreRefusedError, match="was forked"):
        claim(place("s3://b/p"))
