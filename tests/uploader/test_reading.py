from datetime import UTC, datetime
from typing import Any

import pytest

from uploader import reading
from uploader.config import Config
from uploader.errors import ConfigurationError, InvalidAnswerError
from uploader.models import RunListPage

CONFIG = Config("key", "https://h/base")


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
    with pytest.raises(ConfigurationError, match=r"created_after: .* time zone"):
        reading.runs({"created_after": datetime(2026, 1, 2)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_id", "\ud800"), ("run_id", b"r"), ("upload_id", ["a", None]), ("outcome", {"a": "b"}),
        ("context", ["a"]), ("context", {"a": 1}), ("context", {1: "a"}), ("context", {"a": "\ud800"}),
        ("context", 5), ("created_before", [datetime(2026, 1, 2)]),
    ],
)  # fmt: skip
def test_filters_that_cannot_be_sent(name: str, value: Any) -> None:
    filters: Any = {name: value}
    with pytest.raises(ConfigurationError, match=f"{name}: ") as caught:
        reading.traces(filters)
    assert caught.value.option == name


def test_filters_that_no_address_has_room_for() -> None:
    upload_ids = ["a" * 64] * 600
    assert reading.traces({"upload_id": upload_ids}).request(CONFIG)
    with pytest.raises(ConfigurationError, match="too long"):
        reading.traces({"upload_id": upload_ids * 2})


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
    with pytest.raises(InvalidAnswerError):
        reading.following(question, RunListPage(items=[], next_cursor="two" * 10_000))
