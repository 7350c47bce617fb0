from typing import Any

import orjson
import pytest

from uploader.errors import ConfigurationError
from uploader.models import LineFormat
from uploader.options import UploadArguments, upload_options
from uploader.retry import RetryPolicy


def options(**arguments: Any) -> Any:
    return upload_options(arguments)  # type: ignore[arg-type]


def test_the_defaults_are_those_of_the_contract() -> None:
    found = options()
    assert found.line_format is LineFormat.TRACE
    assert found.metadata == b'{"schema_version":1}'
    assert found.policy == RetryPolicy(max_attempts=5)
    assert (found.compress, found.target_batch_bytes, found.max_in_flight) == (True, 30 * 1024 * 1024, 8)
    assert found.headers == {}


@pytest.mark.parametrize("value", ["episode", LineFormat.EPISODE])
def test_line_formats_may_be_text(value: Any) -> None:
    assert options(line_format=value).headers == {"X-Prime-Line-Format": "episode"}


def test_the_context_is_left_out_when_empty() -> None:
    assert options(context={}).metadata == b'{"schema_version":1}'
    found = orjson.loads(options(context={"a": "é"}, schema_version=2).metadata)
    assert found == {"schema_version": 2, "context": {"a": "é"}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("line_format", "rollout"),
        ("context", {"a": 1}),
        ("context", {1: "a"}),
        ("context", ["a"]),
        ("context", 0),
        ("on_batch", 5),
        ("on_retry", "print"),
        ("context", {"a": "\ud800"}),
        ("schema_version", "1"),
        ("schema_version", 0),
        ("schema_version", 2**64),
        ("max_attempts", 0),
        ("max_attempts", True),
        ("max_in_flight", 0),
        ("max_in_flight", 9),
        ("max_in_flight", 2.0),
        ("target_batch_bytes", 0),
        ("target_batch_bytes", None),
    ],
)
def test_what_cannot_be_used_is_named(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name) as caught:
        options(**{name: value})
    assert caught.value.option == name


def test_unknown_arguments() -> None:
    with pytest.raises(TypeError, match="max_inflight"):
        options(max_inflight=1)


def test_every_argument_is_explained() -> None:
    for name in UploadArguments.__annotations__:
        assert f"{name}: " in (UploadArguments.__doc__ or "")
