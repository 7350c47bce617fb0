"""What is read of a line: the few fields that the index holds, typed; everything else is checked and skipped.

The decoder walks over every byte, so a line that passes is valid JSON as a whole. It does not look at the
UTF-8 of what it skips, so that is checked apart. Wrong types in a field that is not indexed are the
producer's business.
"""

from typing import Annotated, Final, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.json_text import unreadable

#: Longer lists of calls, errors or rewards are not indexed: as objects they would take tens of times their bytes.
MAX_PART_BYTES: Final = 4 * 1024 * 1024
#: Values of loose models are read up to here.
_MAX_LOOSE_BYTES: Final = 64 * 1024
_NOTHING: Final = Raw(b"null")
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

    idx: Raw = _NOTHING
    id: Raw = _NOTHING


class Task(Struct):
    """`task`."""

    key: str | None = None
    data: TaskData | None = None


class AgentConfig(Struct):
    """`agent.config`: loose, so nothing in it has a type that could be wrong."""

    model: Raw = _NOTHING
    provider: Raw = _NOTHING


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
    error: Raw = _NOTHING


class Reward(Struct):
    """A value of `rewards`."""

    score: float
    weight: float = 1.0


class Info(Struct):
    """`info`: loose."""

    outcome: Raw = _NOTHING


class TraceRecord(Struct):
    """The indexed fields of a trace."""

    id: str
    traces: Raw | UnsetType = UNSET
    env: Env | None = None
    run: Run | None = None
    task: Task | None = None
    agent: Agent | None = None
    calls: Raw = _NOTHING
    rewards: Raw = _NOTHING
    info: Info | None = None
    stop_condition: str | None = None
    errors: Raw = _NOTHING
    timing: Timing | None = None
    num_total_tokens: Int64 | None = None


class EpisodeRecord(Struct, kw_only=True):
    """The indexed fields of an episode, but for its traces (members.py)."""

    id: str
    env: Env | None = None
    run: Run | None = None
    errors: Raw = _NOTHING


class TraceDocument(NamedTuple):
    """A trace as far as it is indexed."""

    record: TraceRecord
    calls: list[Call]
    rewards: dict[str, Reward | None]
    errors: list[RecordError]


Part = TypeVar("Part")

_trace_decoder: Final = msgspec.json.Decoder(TraceRecord)
_calls_decoder: Final = msgspec.json.Decoder(list[Call] | None)
_rewards_decoder: Final = msgspec.json.Decoder(dict[str, Reward | None] | None)
_errors_decoder: Final = msgspec.json.Decoder(list[RecordError] | None)


def decode_trace(data: bytes | Raw, where: str) -> TraceDocument:
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
        raise unreadable(data, where, error) from error
    if record.traces is not UNSET:
        raise RequestRefusedError(
            "line_format_mismatch",
            f"{where} has `traces`, so it is an episode: send episodes with X-Prime-Line-Format: episode.",
        )
    return TraceDocument(
        record,
        _decode_part(record.calls, _calls_decoder, f"{where}, calls") or [],
        _decode_part(record.rewards, _rewards_decoder, f"{where}, rewards") or {},
        decode_errors(record.errors, where),
    )


def decode_errors(errors: Raw, where: str) -> list[RecordError]:
    """The list of errors of a trace or an episode.

    Raises:
        RequestRefusedError: `invalid_trace`.
    """
    found = _decode_part(errors, _errors_decoder, f"{where}, errors")
    # A list too long to be read is a list of errors all the same.
    return [RecordError()] if found is None and len(memoryview(errors)) > MAX_PART_BYTES else found or []


def loose_text(value: Raw) -> str | None:
    """A value that may have any type, if it is a string of reasonable length."""
    text = _loose(value)
    return text if isinstance(text, str) else None


def loose_integer(value: Raw) -> int | None:
    """A value that may have any type, if it is an integer."""
    number = _loose(value)
    # bool is an int in Python; a number of more than 64 bits is no index of anything.
    return number if type(number) is int and abs(number) <= _INT64_MAX else None


def _loose(value: Raw) -> object:
    if len(memoryview(value)) > _MAX_LOOSE_BYTES:
        return None
    try:
        return msgspec.json.decode(value)
    except msgspec.MsgspecError:
        # A number out of range is valid JSON all the same.
        return None


def _decode_part(data: Raw, decoder: msgspec.json.Decoder[Part | None], where: str) -> Part | None:
    if len(memoryview(data)) > MAX_PART_BYTES:
        return None
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise unreadable(data, where, error) from error
