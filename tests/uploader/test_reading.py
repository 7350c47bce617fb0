from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader import reading
from uploader.config import Config
from uploader.errors import InvalidAnswerError
from uploader.models import RunListPage

CONFIG = Config("key", "https://h/base")


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_an_id_is_one_segment_whatever_it_holds(identifier: str) -> None:
    segment = reading.segment(identifier)
    assert unquote(segment) == identifier
    path = httpx.URL(f"https://h/api/v1/traces/{segment}/nodes").raw_path.decode()
    assert path == f"/api/v1/traces/{segment}/nodes"
    assert path.count("/") == 5


@pytest.mark.parametrize("identifier", [".", "..", "a/b", "../x", "a?b#c", "%2e", "a b", "é"])
def test_hard_ids(identifier: str) -> None:
    url = httpx.URL(f"https://h/api/v1/traces/{reading.segment(identifier)}")
    assert url.raw_path.decode().startswith("/api/v1/traces/")
    assert (url.query, url.fragment) == (b"", "")


def test_an_empty_id_would_ask_for_the_list() -> None:
    with pytest.raises(ValueError, match="empty"):
        reading.segment("")
    with pytest.raises(TypeError):
        reading.segment(None)  # type: ignore[arg-type]


def test_filters_become_a_query() -> None:
    filters: Any = {
        "run_id": "r 1",
        "upload_id": ["a", "b"],
        "reward_min": 0.5,
        "has_error": False,
        "created_after": datetime(2026, 1, 2, tzinfo=UTC),
        "created_before": "2026-01-03T00:00:00Z",
        "task_id": None,
        "context": {"k": "v", "l": "w"},
        "limit": 10,
    }
    assert reading.traces(filters).params == (
        ("run_id", "r 1"),
        ("upload_id", "a"),
        ("upload_id", "b"),
        ("reward_min", "0.5"),
        ("has_error", "false"),
        ("created_after", "2026-01-02T00:00:00+00:00"),
        ("created_before", "2026-01-03T00:00:00Z"),
        ("context.k", "v"),
        ("context.l", "w"),
        ("limit", "10"),
    )


def test_unset_filters_are_left_out() -> None:
    assert reading.episodes({"context": None, "upload_id": [], "run_id": None}).params == ()
    assert reading.episodes({"context": {}}).params == ()


def test_unknown_filters() -> None:
    with pytest.raises(TypeError, match="sort"):
        reading.episode_traces("e", {"sort": "x"})  # type: ignore[typeddict-unknown-key]


def test_times_need_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        reading.runs({"created_after": datetime(2026, 1, 2)})


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (reading.traces({}), "/traces"),
        (reading.trace("t"), "/traces/t"),
        (reading.nodes("t", {}), "/traces/t/nodes"),
        (reading.calls("t", {}), "/traces/t/calls"),
        (reading.episodes({}), "/episodes"),
        (reading.episode("e"), "/episodes/e"),
        (reading.episode_traces("e", {}), "/episodes/e/traces"),
        (reading.runs({}), "/runs"),
        (reading.run("r"), "/runs/r"),
        (reading.run_steps("r"), "/runs/r/steps"),
    ],
)
def test_paths(question: Any, path: str) -> None:
    request = question.request(CONFIG)
    assert (request.method, request.url) == ("GET", f"https://h/base/api/v1{path}")
    assert request.headers == CONFIG.headers()


def test_raw_documents() -> None:
    request = reading.raw_request("traces", "a/b", CONFIG)
    assert (request.url, request.params) == ("https://h/base/api/v1/traces/a%2Fb", (("raw", "true"),))


def test_the_next_page_keeps_the_filters() -> None:
    question = reading.runs({"limit": 2, "cursor": "one"})
    following = reading.following(question, RunListPage(items=[], next_cursor="two"))
    assert following is not None
    assert following.params == (("limit", "2"), ("cursor", "two"))
    assert reading.following(following, RunListPage(items=[], next_cursor=None)) is None


def test_a_list_without_an_end_is_noticed() -> None:
    question = reading.runs({"cursor": "one"})
    with pytest.raises(InvalidAnswerError):
        reading.following(question, RunListPage(items=[], next_cursor="one"))
