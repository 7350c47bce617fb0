"""The rows of W&B's table of episodes: what people look for first, and the beginning of what was said."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from encoder import Trace
from encoder.records.counting import counts_in_steps
from uploader.records import record_pieces

COLUMNS: Final = (
    "step",
    "id",
    "environment",
    "task",
    "ok",
    "reward",
    "input_tokens",
    "output_tokens",
    "stop",
    "error",
    "messages",
)

Pause = Callable[[], object]


def row_of(record: Any, step: int, max_chars: int, pause: Pause) -> list[Any]:
    """A record's row, in the order of `COLUMNS`.

    Args:
        record: an episode or a trace, as a model or as a mapping; of any other record the JSON's beginning is shown.
        step: what it was logged with.
        max_chars: how much of its messages is shown.
        pause: called between parts of the work.
    """
    traces = _traces(record)
    if traces is None:
        return [step, *[None] * (len(COLUMNS) - 2), _text_of(record, max_chars)]
    rewards = [reward for trace in traces if (reward := _reward(trace)) is not None]
    errors = [error for each in (record, *traces) for error in _get(each, "errors") or ()]
    stops = dict.fromkeys(str(stop) for trace in traces if (stop := _get(trace, "stop_condition")))
    pause()
    tokens = [_tokens(trace, pause) for trace in traces]
    return [
        step,
        _text(_get(record, "id")),
        _text(_get(_get(record, "env"), "name") or _get(_get(record, "env"), "id")),
        _task(_get(record, "task")),
        _get(record, "ok"),
        sum(rewards) / len(rewards) if rewards else None,
        sum(each[0] for each in tokens),
        sum(each[1] for each in tokens),
        ", ".join(stops),
        "; ".join(f"{_get(error, 'type')}: {_get(error, 'message')}" for error in errors[:3])[:max_chars],
        _messages(traces, max_chars, pause),
    ]


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _traces(record: Any) -> Sequence[Any] | None:
    """An episode's traces; of a trace itself; None of what is neither."""
    traces = _get(record, "traces")
    if isinstance(traces, list | tuple):
        return traces
    return [record] if isinstance(_get(record, "nodes"), list | tuple) else None


def _task(task: Any) -> str | None:
    data = _get(task, "data")
    for name in ("name", "id", "idx"):
        if (value := _get(data, name)) is not None:
            return str(value)
    return _text(_get(task, "key") or _get(task, "type"))


def _reward(trace: Any) -> float | None:
    """The weighted sum of a trace's rewards, as the service has it."""
    rewards = [reward for reward in (_get(trace, "rewards") or {}).values() if reward is not None]
    return sum(_get(each, "score") * _get(each, "weight") for each in rewards) if rewards else None


def _tokens(trace: Any, pause: Pause) -> tuple[int, int]:
    if not isinstance(trace, Trace):
        return _get(trace, "num_input_tokens") or 0, _get(trace, "num_output_tokens") or 0
    steps = counts_in_steps(trace, {})
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value.num_input_tokens, end.value.num_output_tokens
        pause()


def _messages(traces: Sequence[Any], max_chars: int, pause: Pause) -> str:
    """Who said what, trace by trace, up to a length."""
    parts: list[str] = []
    left = max_chars
    for part in _parts(traces, max_chars):
        parts.append(part[:left])
        left -= len(part)
        if left < 0:
            parts.append(" …")
            break
        pause()
    return "".join(parts)


def _parts(traces: Sequence[Any], max_chars: int) -> Iterator[str]:
    before = ""
    for trace in traces:
        for node in _get(trace, "nodes") or ():
            message = _get(node, "message")
            yield f"{before}[{_get(message, 'role')}] "
            before = "\n"
            for content in _contents(message):
                yield content[: max_chars + 1]  # a slice of what may be megabytes
        before = "\n\n———\n\n"


def _contents(message: Any) -> Iterator[str]:
    reasoning, content = _get(message, "reasoning_content"), _get(message, "content")
    if isinstance(reasoning, str):
        yield reasoning
        yield "\n"
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | tuple):
        for part in content:
            text = _get(part, "text")
            yield text if isinstance(text, str) else f"<{_get(part, 'type')}>"
    for call in _get(message, "tool_calls") or ():
        arguments = _get(call, "arguments")
        yield f"\n→ {_get(call, 'name')}("
        yield arguments if isinstance(arguments, str) else str(arguments)
        yield ")"


def _text_of(record: Any, max_chars: int) -> str:
    """The beginning of a record's JSON."""
    start = b""
    for piece in record_pieces(record):
        start += piece[: max_chars + 1 - len(start)]
        if len(start) > max_chars:
            return start[:max_chars].decode(errors="replace") + " …"
    return start.decode(errors="replace")
