"""Query parameters to SQL conditions: a table of names; values reach SQLite as parameters alone."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from uploader.receiver.errors import RequestRefusedError

MAX_LIMIT: Final = 100
DEFAULT_LIMIT: Final = 50
_MAX_VALUES: Final = 100
_MAX_FILTERS: Final = 40
_INT64_MAX: Final = 2**63 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Value = str | int | float
Params = list[tuple[str, str]]


class Filter(NamedTuple):
    """One filter.

    Attributes:
        sql: the condition, with one `{}` where the value's `?` goes.
        parse: from the parameter's text to the value; raises ValueError.
        repeatable: whether several values may be given, any of which may match.
    """

    sql: str
    parse: Callable[[str], Value]
    repeatable: bool = False


class Condition(NamedTuple):
    """A WHERE clause's text and its parameters."""

    sql: str
    values: list[Value]


def parse_number(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a finite number is meant")
    return value


def parse_integer(text: str) -> int:
    """An integer of 64 bits."""
    value = int(text)
    if abs(value) > _INT64_MAX:
        raise ValueError("a 64-bit integer is meant")
    return value


def parse_flag(text: str) -> int:
    """`true` or `false`, as SQLite's 1 and 0."""
    try:
        return {"true": 1, "1": 1, "false": 0, "0": 0}[text.lower()]
    except KeyError:
        raise ValueError("true or false is meant") from None


def parse_time(text: str) -> int:
    """An RFC 3339 time in microseconds; without a zone it is UTC."""
    # A plus sign that was not percent-encoded arrives as a space.
    moment = datetime.fromisoformat(text.replace(" ", "+") if text.count(" ") == 1 and "T" in text else text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


_UPLOAD: Final = "upload IN (SELECT upload FROM uploads WHERE upload_id IN ({}))"
_CREATED: Final = {
    "created_after": Filter("created_at >= {}", parse_time),
    "created_before": Filter("created_at < {}", parse_time),
}
_SHARED: Final = {
    "run_id": Filter("run_id IN ({})", str, repeatable=True),
    "upload_id": Filter(_UPLOAD, str, repeatable=True),
    "environment_id": Filter("environment_id IN ({})", str, repeatable=True),
    "outcome": Filter("outcome IN ({})", str, repeatable=True),
    "has_error": Filter("has_error = {}", parse_flag),
    **_CREATED,
}
TRACE_FILTERS: Final[Mapping[str, Filter]] = {
    **_SHARED,
    "model_id": Filter("model_id IN ({})", str, repeatable=True),
    "model_provider": Filter("model_provider IN ({})", str, repeatable=True),
    "task_id": Filter("task_id IN ({})", str, repeatable=True),
    "reward_min": Filter("reward >= {}", parse_number),
    "reward_max": Filter("reward <= {}", parse_number),
    "is_truncated": Filter("is_truncated = {}", parse_flag),
    "run_step": Filter("step = {}", parse_integer),
}
_MEMBER: Final = "episode_id IN (SELECT episode_id FROM traces WHERE {})"
EPISODE_FILTERS: Final[Mapping[str, Filter]] = {
    **_SHARED,
    "run_step": Filter(_MEMBER.replace("{}", "step = {}"), parse_integer),
    "step_min": Filter(_MEMBER.replace("{}", "step >= {}"), parse_integer),
    "step_max": Filter(_MEMBER.replace("{}", "step <= {}"), parse_integer),
}
RUN_FILTERS: Final[Mapping[str, Filter]] = _CREATED
_CONTEXT: Final = """upload IN (
    SELECT upload FROM uploads, json_each(uploads.context) WHERE json_each.key = ? AND json_each.value = ?
)"""
_PAGING: Final = ("limit", "cursor")


def filter_params(params: Params) -> Params:
    """The parameters that select, without those that page."""
    return [(name, value) for name, value in params if name not in _PAGING]


def parse_condition(params: Params, filters: Mapping[str, Filter], *, context: bool) -> Condition:
    """The condition that the parameters state together; one that is always true for none.

    Args:
        params: names and values, paging left out.
        filters: what the list can be filtered by.
        context: whether `context.<key>` filters are known as well.

    Raises:
        RequestRefusedError: `invalid_filter`, for an unknown name or an unusable value.
    """
    values_of: dict[str, list[str]] = {}
    for name, value in params:
        values_of.setdefault(name, []).append(value)
    if len(values_of) > _MAX_FILTERS:
        raise RequestRefusedError(
            "invalid_filter", f"{len(values_of)} filters are too many: {_MAX_FILTERS} are allowed."
        )
    parts, values = ["1"], list[Value]()
    for name, texts in values_of.items():
        if context and name.startswith("context.") and len(texts) == 1:
            parts.append(_CONTEXT)
            values += [name.removeprefix("context."), texts[0]]
            continue
        found = filters.get(name)
        if found is None:
            raise RequestRefusedError("invalid_filter", f"{name[:100]!r} is no filter of this list.")
        if len(texts) > (_MAX_VALUES if found.repeatable else 1):
            raise RequestRefusedError("invalid_filter", f"{name} is given {len(texts)} times.")
        parts.append(found.sql.replace("{}", ", ".join("?" * len(texts))))
        values += [_parse(name, found, text) for text in texts]
    return Condition(" AND ".join(parts), values)


def parse_paging(params: Params) -> tuple[int, str | None]:
    """The limit and the cursor.

    Raises:
        RequestRefusedError: `invalid_filter`, for a limit outside of 1 to 100 or a parameter given twice.
    """
    paging = dict[str, str]()
    for name, value in params:
        if name not in _PAGING:
            continue
        if name in paging:
            raise RequestRefusedError("invalid_filter", f"{name} is given twice.")
        paging[name] = value
    try:
        limit = int(paging.get("limit", DEFAULT_LIMIT))
    except ValueError:
        limit = 0
    if not 1 <= limit <= MAX_LIMIT:
        raise RequestRefusedError("invalid_filter", f"limit must be an integer from 1 to {MAX_LIMIT}.")
    return limit, paging.get("cursor")


def _parse(name: str, found: Filter, text: str) -> Value:
    try:
        return found.parse(text)
    except (ValueError, OverflowError) as error:
        raise RequestRefusedError("invalid_filter", f"{name} has an unusable value: {error}.") from error
