"""What is read of a line: the few fields that the index holds, typed; everything else is checked and skipped.

The decoder walks over every byte, so a line that passes is valid JSON as a whole. It does not look at the
UTF-8 of what it skips, so that is checked apart. Wrong types in a field that is not indexed are the
producer's business.
"""

import codecs
import re
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from uploader.receiver.errors import RequestRefusedError

_UTF8_SLICE_BYTES: Final = 256 * 1024
_PROBE_BYTES: Final = 256
_INT64_MAX: Final = 2**63 - 1
Int64 = Annotated[int, Meta(ge=-_INT64_MAX, le=_INT64_MAX)]


class RecordError(Struct):
    """An entry of `errors`."""

    type: str | None = None
    message: str | None = None


class Work(Struct):
    """`run.work`: what a training run did with the record."""

    type: str | None = None
    step: Int64 | None = None


class Run(Struct):
    """`run`."""

    id: str | None = None
    work: Work | None = None


class Env(Struct):
    """`env`."""

    id: str | None = None


class TaskData(Struct):
    """`task.data`."""

    idx: object = None
    id: object = None


class Task(Struct):
    """`task`."""

    key: str | None = None
    data: TaskData | None = None


class AgentConfig(Struct):
    """`agent.config`: loose, so nothing in it has a type that could be wrong."""

    model: object = None
    provider: object = None


class Agent(Struct):
    """`agent`."""

    name: str | None = None
    config: AgentConfig | None = None


class Span(Struct):
    """A time span in epoch seconds; 0 means not recorded."""

    start: float | None = None
    end: float | None = None


class Timing(Struct):
    """`timing`."""

    start: float | None = None
    boot: Span | None = None
    setup: Span | None = None
    agent: Span | None = None
    finalize: Span | None = None
    scoring: Span | None = None


class Call(Struct):
    """An entry of `calls`."""

    model: str | None = None
    finish_reason: str | None = None
    time: Span | None = None
    error: object = None


class Reward(Struct):
    """A value of `rewards`."""

    score: float
    weight: float = 1.0


class Info(Struct):
    """`info`: loose."""

    outcome: object = None


class TraceRecord(Struct):
    """The indexed fields of a trace."""

    id: str
    traces: Raw | UnsetType = UNSET
    env: Env | None = None
    run: Run | None = None
    task: Task | None = None
    agent: Agent | None = None
    calls: list[Call] | None = None
    rewards: dict[str, Reward | None] | None = None
    info: Info | None = None
    stop_condition: str | None = None
    errors: list[RecordError] | None = None
    timing: Timing | None = None
    num_total_tokens: Int64 | None = None


class EpisodeRecord(Struct):
    """The indexed fields of an episode; its traces stay bytes."""

    id: str
    traces: list[Raw] | UnsetType = UNSET
    env: Env | None = None
    run: Run | None = None
    errors: list[RecordError] | None = None


_trace_decoder: Final = msgspec.json.Decoder(TraceRecord)
_episode_decoder: Final = msgspec.json.Decoder(EpisodeRecord)


class _TracesKey(Struct):
    traces: Raw | UnsetType = UNSET


_traces_key_decoder: Final = msgspec.json.Decoder(_TracesKey)


def decode_trace(data: bytes | Raw, where: str) -> TraceRecord:
    """Read a trace.

    Args:
        data: its JSON.
        where: names the record in messages, like `Line 3`.

    Raises:
        RequestRefusedError: `line_format_mismatch` for an episode, `malformed_encoding` or `invalid_trace`.
    """
    try:
        record = _trace_decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        if isinstance(data, bytes) and _has_traces(data):
            raise _episode_among_traces(where) from error
        raise _unreadable(data, where, error) from error
    if record.traces is not UNSET:
        raise _episode_among_traces(where)
    return record


def decode_episode(data: bytes, where: str) -> tuple[EpisodeRecord, list[Raw]]:
    """Read an episode, and the bytes of its traces.

    Raises:
        RequestRefusedError: `line_format_mismatch` for a line without traces, `malformed_encoding` or
        `invalid_trace`.
    """
    try:
        record = _episode_decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable(data, where, error) from error
    if record.traces is UNSET:
        raise RequestRefusedError(
            "line_format_mismatch",
            f"{where} has no `traces`, so it is no episode: send bare traces without X-Prime-Line-Format.",
        )
    return record, record.traces


def check_utf8(data: bytes, where: str) -> None:
    """Check bytes that are too long to decode at once.

    Raises:
        RequestRefusedError: `malformed_encoding`.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _UTF8_SLICE_BYTES):
            decoder.decode(view[start : start + _UTF8_SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise RequestRefusedError("malformed_encoding", f"{where} is not UTF-8: {error.reason}.") from error


def locate_members(line: bytes, members: list[Raw]) -> list[tuple[int, int]]:
    """Where an episode's traces lie in its line, as (offset, size) each; all of them must be JSON objects.

    Should a copy of the first one's bytes come before it, that copy is found: the range holds the same bytes.
    """
    ranges = []
    start = end = 0
    for number, member in enumerate(members):
        # Between two members are only white space and a comma.
        start = line.index(b"{", end) if number else _find(line, memoryview(member))
        end = start + len(memoryview(member))
        ranges.append((start, end - start))
    return ranges


def _find(line: bytes, member: memoryview) -> int:
    # Searching for a short beginning and comparing is cheaper than searching for megabytes.
    beginning = bytes(member[:_PROBE_BYTES])
    start = line.index(beginning)
    while not line.startswith(member, start):
        start = line.index(beginning, start + 1)
    return start


def _has_traces(data: bytes) -> bool:
    try:
        return _traces_key_decoder.decode(data).traces is not UNSET
    except (msgspec.MsgspecError, RecursionError):
        return False


def _episode_among_traces(where: str) -> RequestRefusedError:
    return RequestRefusedError(
        "line_format_mismatch",
        f"{where} has `traces`, so it is an episode: send episodes with X-Prime-Line-Format: episode.",
    )


#: A backslash pair, a whole surrogate pair, or (named) half of one. Read from the left, pairs of backslashes
#: are skipped over, so that an escaped backslash before a `u` is no escape.
_SURROGATES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def _unreadable(data: bytes | Raw, where: str, error: Exception) -> RequestRefusedError:
    if not isinstance(error, msgspec.ValidationError) and any(
        match["lone"] for match in _SURROGATES.finditer(memoryview(data))
    ):
        return RequestRefusedError(
            "malformed_encoding", f"{where} holds half of a surrogate pair, which UTF-8 cannot carry."
        )
    return RequestRefusedError("invalid_trace", f"{where} is not valid: {error}.")
