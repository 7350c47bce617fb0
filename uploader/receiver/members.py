"""The traces within an episode's line: their bytes, at most so many of them, and where they lie."""

import functools
import itertools
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from uploader.receiver.documents import EpisodeRecord
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.json_text import unreadable

#: A shorter line can't hold so many traces that their number would matter to memory.
_SHORT_LINE_BYTES: Final = 64 * 1024
_PROBE_BYTES: Final = 256
_NOTHING: Final = Raw(b"")


class _ShortEpisode(EpisodeRecord):
    traces: list[Raw] | msgspec.UnsetType = UNSET


_short_decoder: Final = msgspec.json.Decoder(_ShortEpisode)


@functools.cache
def _long_decoder(max_traces: int) -> msgspec.json.Decoder[Any]:
    """A decoder that keeps the first `max_traces` + 1 traces of a line and walks over the rest.

    A list would be built whole, at fifty bytes for each two of the line, before its length could be checked. An
    array-like struct has a slot for each trace that is kept, and skips what it has no slot for.
    """
    slots = [(f"trace{number}", Raw, _NOTHING) for number in range(max_traces + 1)]
    traces = msgspec.defstruct("_Traces", slots, array_like=True)
    episode = msgspec.defstruct("_LongEpisode", [("traces", traces | msgspec.UnsetType, UNSET)], bases=(EpisodeRecord,))
    return msgspec.json.Decoder(episode)


def decode_episode(data: bytes, where: str, max_traces: int) -> tuple[EpisodeRecord, list[Raw]]:
    """Read an episode, and the bytes of its traces.

    Args:
        data: the line.
        where: names it in messages, like `Line 3`.
        max_traces: how many traces it may have.

    Raises:
        RequestRefusedError: `line_format_mismatch` for a line without traces, `too_many_traces_in_episode`,
            `malformed_encoding` or `invalid_trace`.
    """
    is_short = len(data) <= _SHORT_LINE_BYTES
    try:
        record = (_short_decoder if is_short else _long_decoder(max_traces)).decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise unreadable(data, where, error) from error
    if record.traces is UNSET:
        raise RequestRefusedError(
            "line_format_mismatch",
            f"{where} has no `traces`, so it is no episode: send bare traces without X-Prime-Line-Format.",
        )
    slots: Any = record.traces
    if not is_short:
        slots = itertools.takewhile(lambda slot: slot is not _NOTHING, msgspec.structs.astuple(slots))
    traces = list[Raw](slots)
    if len(traces) > max_traces:
        raise RequestRefusedError("too_many_traces_in_episode", f"{where} has more than {max_traces} traces.")
    return record, traces


def locate_members(line: bytes, members: list[Raw]) -> list[tuple[int, int]]:
    """Where an episode's traces lie in its line, as (offset, size) each; all of them must be JSON objects.

    Should the same objects stand in the same order before them, those are found: their ranges hold the same bytes.
    """
    if not members:
        return []
    views = [memoryview(member) for member in members]
    # Searching for a short beginning and comparing is cheaper than searching for megabytes.
    beginning = bytes(views[0][:_PROBE_BYTES])
    start = -1
    while True:
        start = line.index(beginning, start + 1)
        ranges = _follow(line, views, start)
        if ranges is not None:
            return ranges


def _follow(line: bytes, members: list[memoryview], start: int) -> list[tuple[int, int]] | None:
    """The ranges, if the first member starts here and every other is the next object after its neighbour."""
    ranges = []
    for member in members:
        if not line.startswith(member, start):
            return None
        ranges.append((start, len(member)))
        start = line.find(b"{", start + len(member))
    return ranges
