"""Chats become episodes: one trace, one node per message, each the parent of the next.

Nothing comes from a clock or from chance: ids are given, or digests of what was; a message's time is its `timestamp`
where that is a number, else the one before it, at first 0.0. So converting twice gives the same bytes.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Any, SupportsFloat

from pydantic import BaseModel

from encoder.chat_messages import MessageReader
from encoder.chat_values import json_text, storable
from encoder.errors import ChatError
from encoder.records import AgentConfig, AgentInfo, Episode, MessageNode, Reward, TaskData, Timing, Trace, TraceTask

LEFTOVERS = "unmapped"
"""The key of a trace's `info` under which lies what the messages of a record have no place for."""


def from_messages(
    messages: Iterable[object],
    *,
    task: TraceTask[Any] | TaskData | str | None = None,
    reward: float | None = None,
    agent: AgentInfo | str | None = None,
    info: Mapping[str, Any] | None = None,
    id: str | None = None,  # noqa: A002 - the field's name
) -> Episode:
    """Turn an OpenAI-style chat into an episode of one completed trace.

    Untidy chats are taken as they are; `encoder.chat_messages` says how. Lone surrogates stay in place: only encoding
    such an episode fails.

    The same arguments give the same bytes, ids included. So two rollouts of a group that said the same, with the same
    reward, would get one id, and the service takes an id only once an upload: give each rollout its own `id`.

    Args:
        messages: dicts with `role` and `content`, or models that dump to such; anything else is text of the user's.
        task: what was asked for; its data, or just its name.
        reward: the chat's score, recorded as the reward "reward"; one that is no finite number as null.
        agent: who answered, or just the name.
        info: what else to keep with the trace; a value that no record can hold is kept as its JSON text.
        id: the episode's id, from which its trace's id derives; by default a digest of all other arguments.

    Returns:
        The episode. No node is sampled, since nobody says which model wrote the answers.

    Raises:
        ChatError: it is no list, or holds what JSON cannot; the reward is no number, the id no text.
    """
    chat = _mappings(messages)
    reader = MessageReader()
    nodes: list[MessageNode] = []
    time = 0.0
    for position, message in enumerate(chat):
        rest = dict(message)
        stamp = _finite(rest.get("timestamp"))
        if stamp is not None and not isinstance(rest["timestamp"], bool):
            time = stamp
            del rest["timestamp"]
        parent = position - 1 if position else None
        nodes.append(MessageNode(parent=parent, message=reader.read(rest), timestamp=time))
    trace_task, trace_agent = _task(task), _agent(agent)
    kept = _kept(info or {}, reader.leftovers)
    digest = _digest(chat, [trace_task.model_dump(), trace_agent.model_dump(), reward, info])
    episode_id = digest if id is None else _id(id)
    trace = Trace(
        id=_digest([], [episode_id, "trace"]),
        task=trace_task,
        agent=trace_agent,
        nodes=nodes,
        rewards={} if reward is None else {"reward": _reward(reward)},
        info=kept,
        is_completed=True,
        ok=True,
        timing=Timing(start=nodes[0].timestamp if nodes else 0.0),
    )
    return Episode(id=episode_id, task=trace_task, ok=True, traces=[trace])


def _mappings(messages: object) -> list[Mapping[str, Any]]:
    """Return the messages as mappings.

    Raises:
        ChatError: it is no list, or a message cannot be written as JSON.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        hint = "; pass its messages" if isinstance(messages, Mapping) else ""
        raise ChatError(None, f"a chat is a list of messages, not {type(messages).__name__}{hint}")
    chat: list[Mapping[str, Any]] = []
    for position, message in enumerate(messages):
        try:
            given = message.model_dump(mode="json") if isinstance(message, BaseModel) else message
            if not isinstance(given, Mapping):
                given = {"role": "user", "content": given if isinstance(given, str) else json_text(given)}
            chat.append(given)
        except (TypeError, ValueError, RecursionError) as error:
            raise ChatError(position, f"it cannot be written as JSON: {error}") from error
    return chat


def _kept(info: Mapping[str, Any], leftovers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what a trace's `info` holds: what was given, and the leftovers; neither displaces the other.

    Raises:
        ChatError: a value cannot be written as JSON.
    """
    try:
        kept = storable(info)
    except (TypeError, ValueError, RecursionError) as error:
        raise ChatError(None, f"its info cannot be written as JSON: {error}") from error
    if leftovers:
        displaced = {"info": {LEFTOVERS: kept[LEFTOVERS]}} if LEFTOVERS in kept else {}
        kept[LEFTOVERS] = {**displaced, **leftovers}
    return kept


def _finite(value: object) -> float | None:
    """Return a number as a float, None where it is no number, or none that JSON and a float can hold."""
    try:
        number = float(value) if isinstance(value, SupportsFloat) else math.nan
    except (OverflowError, TypeError, ValueError):  # too large, an array, a signaling NaN
        return None
    return number if math.isfinite(number) else None


def _task(task: TraceTask[Any] | TaskData | str | None) -> TraceTask[Any]:
    if isinstance(task, TraceTask):
        return task
    data = task if isinstance(task, TaskData) else TaskData(name=task)
    return TraceTask(type="Chat" if type(data) is TaskData else type(data).__name__, data=data)


def _agent(agent: AgentInfo | str | None) -> AgentInfo:
    if isinstance(agent, AgentInfo):
        return agent
    return AgentInfo(config=AgentConfig()) if agent is None else AgentInfo(config=AgentConfig(), name=agent)


def _id(given: str) -> str:
    if not isinstance(given, str):
        raise ChatError(None, f"an id is a text, not {type(given).__name__}")
    if not given:
        raise ChatError(None, "its id is empty: leave it out, or give each chat its own")
    return given


def _reward(score: float) -> Reward | None:
    if not isinstance(score, SupportsFloat):
        raise ChatError(None, f"a reward is a number, not {type(score).__name__}")
    number = _finite(score)
    return None if number is None else Reward(score=number)


def _digest(messages: list[Mapping[str, Any]], others: list[Any]) -> str:
    """Return 32 hex digits that depend on every item.

    Raises:
        ChatError: one cannot be written as JSON.
    """
    digest = hashlib.sha256()
    for position, item in [*enumerate(messages), *((None, item) for item in others)]:
        try:
            text = json_text(item)
        except (TypeError, ValueError, RecursionError) as error:
            raise ChatError(position, f"it cannot be written as JSON: {error}") from error
        digest.update(text.encode(errors="surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:32]
