"""What is wrong with an argument is a ConfigurationError at once: no request, no file, no item of the source."""

from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, RootModel

import uploader
from encoder import from_messages
from tests.naming import stable_id
from tests.uploader.faces import KEY, URL, Face, both, lines
from uploader.arguments import usable_path, usable_text, usable_timeout
from uploader.testing import ScriptedTransport


@both
@pytest.mark.parametrize(
    "timeout",
    ["x", -1, 0, float("nan"), float("inf"), 1e12, True, [1], {}, (1, 2, 3, 4, 5), object(), httpx.Timeout(5, read=-1)],
    ids=stable_id,
)
def test_time_limits_are_checked_by_the_constructor(face: Face, timeout: Any) -> None:
    with pytest.raises(uploader.ConfigurationError, match="timeout: it must be seconds"):
        face.use(None, lambda client: None, timeout=timeout)


def test_time_limits() -> None:
    assert usable_timeout(2).as_dict() == dict.fromkeys(("connect", "read", "write", "pool"), 2)
    assert usable_timeout((1, 2.5, None, 4)).as_dict() == {"connect": 1, "read": 2.5, "write": None, "pool": 4}
    assert usable_timeout(httpx.Timeout(None)).as_dict()["read"] is None


@both
def test_transports_are_checked_by_the_constructor(face: Face) -> None:
    for transport in (5, httpx.HTTPTransport if face.is_async else httpx.AsyncHTTPTransport()):
        with pytest.raises(uploader.ConfigurationError, match="transport: it must be an httpx"):
            face.use(transport, lambda client: None)


class Untouched:
    def __iter__(self) -> Any:
        raise AssertionError("the source was touched")


class Rollout(Untouched):
    def to_record(self) -> Any:
        raise AssertionError("the source was touched")


class Iterating(Untouched):
    def iter_json(self, *, indent: int = 0) -> Any:
        raise AssertionError("the source was touched")


class Encoding:  # iterating is not even possible
    def to_json(self) -> bytes:
        raise AssertionError("the source was touched")


class Point(BaseModel):
    x: int


SINGLE = [
    b"{}\n", bytearray(b"{}\n"), memoryview(b"{}\n"), "{}", {"id": "t"}, MappingProxyType({"id": "t"}),
    Rollout(), Iterating(), Encoding(), Point(x=1), from_messages([]), from_messages([]).traces[0],
]  # fmt: skip


@both
@pytest.mark.parametrize("source", SINGLE, ids=lambda source: type(source).__name__)
@pytest.mark.parametrize(("method", "option"), [("upload_records", "records"), ("upload_lines", "lines")])
def test_a_single_record_is_no_source(face: Face, method: str, option: str, source: Any) -> None:
    transport = ScriptedTransport()
    text = f"{option}: it is a single {type(source).__name__}: give a list"
    with pytest.raises(uploader.ConfigurationError, match=text) as caught:
        face.call(transport, method, source)
    assert caught.value.option == option
    assert transport.requests == []


class Table:
    """Like a data set: its rows are records, and `to_json` writes a file."""

    def __iter__(self) -> Any:
        return iter([{"n": 0}, {"n": 1}])

    def to_json(self, path: str) -> None:
        raise AssertionError


class Rows(RootModel[list[Point]]):
    def __iter__(self) -> Any:
        return iter([{"n": 0}, {"n": 1}])


@both
@pytest.mark.parametrize("source", [Table(), Rows([]), {"a": {"n": 0}, "b": {"n": 1}}.values()], ids=stable_id)
def test_what_holds_records_is_a_source(face: Face, source: Any) -> None:
    transport = ScriptedTransport()
    face.call(transport, "upload_records", source, compress=False)
    (request,) = transport.requests
    assert b'{"n":0}\n{"n":1}\n' in request.body


@both
@pytest.mark.parametrize(
    ("method", "args", "kwargs", "option"),
    [
        ("upload_lines", [Untouched()], {"on_batch": 5}, "on_batch"),
        ("upload_records", [Untouched()], {"on_retry": "print"}, "on_retry"),
        ("upload_records", [Untouched()], {"on_record_error": []}, "on_record_error"),
        ("upload_lines", [5], {}, "lines"),
        ("upload_records", [None], {}, "records"),
        ("upload_file", [5], {}, "path"),
        ("upload_file", ["a\0b"], {}, "path"),
        ("upload_file", [""], {}, "path"),
        ("download_raw", ["t", "a\0b"], {}, "dest"),
        ("download_episode_raw", ["t", None], {}, "dest"),
        *(
            (method, [bad], {}, "id")
            for method in (
                "get", "get_raw", "list_nodes", "list_calls", "get_episode", "get_episode_raw", "list_episode_traces",
                "get_run", "list_run_steps",
            )
            for bad in ("", "\ud800", None)
        ),
        *(
            (method, [], {"created_after": datetime(2026, 1, 1)}, "created_after")
            for method in ("list", "iter", "list_episodes", "iter_episodes", "list_runs", "iter_runs")
        ),
    ],
)  # fmt: skip
def test_before_any_request(face: Face, method: str, args: Any, kwargs: Any, option: str) -> None:
    transport = ScriptedTransport()
    with pytest.raises(uploader.ConfigurationError) as caught:
        face.call(transport, method, *args, **kwargs)
    assert caught.value.option == option
    assert isinstance(caught.value, ValueError)
    assert transport.requests == []


@both
def test_what_stays_pythons(face: Face, tmp_path: Path) -> None:
    transport = ScriptedTransport()
    for method, args, kwargs in (("list", [], {"bogus": 1}), ("upload_lines", [lines(1)], {"on_bach": print})):
        with pytest.raises(TypeError):
            face.call(transport, method, *args, **kwargs)
    with pytest.raises(FileNotFoundError):
        face.call(transport, "upload_file", tmp_path / "absent")
    with pytest.raises(FileNotFoundError) as caught:
        face.call(ScriptedTransport([httpx.Response(200)]), "download_raw", "t", tmp_path / "no" / "x")
    assert caught.value.filename == str(tmp_path / "no" / "x")
    assert transport.requests == []


def test_an_asynchronous_source_needs_the_async_client() -> None:
    async def source() -> Any:
        yield b"1\n"

    client = uploader.TracesClient(KEY, URL, "", transport=ScriptedTransport())
    with client, pytest.raises(uploader.ConfigurationError, match="AsyncTracesClient"):
        client.upload_lines(source())


def test_paths_and_texts() -> None:
    assert usable_path("p", Path("a")) == usable_path("p", "a") == "a"
    assert usable_path("p", "caf\udce9") == "caf\udce9"  # bytes that are no UTF-8, as file names may be
    with pytest.raises(uploader.ConfigurationError, match="p: "):
        usable_path("p", "\ud800")
    assert usable_text("t", "é") == "é"
