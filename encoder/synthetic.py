"""Synthetic episodes, for trying things out, tests and benchmarks.

They look like an agent's: a system and a user message, then turns of thinking, tool calls and tool results, now and
then a branch; about half of the nodes are sampled and carry log-probabilities (float32, as engines give them) and
advantages. Everything, ids and times included, derives from the seed.
"""

import functools
import hashlib
from typing import Final

import numpy as np
import orjson

from encoder.records import (
    AgentConfig,
    AgentInfo,
    AgentSpan,
    AssistantMessage,
    EnvInfo,
    Episode,
    GroupInfo,
    Message,
    MessageNode,
    ModelCall,
    Reward,
    SystemMessage,
    TaskData,
    TimeSpan,
    TimeSplit,
    Timing,
    Tool,
    ToolCall,
    ToolMessage,
    Trace,
    TraceTask,
    Usage,
    UserMessage,
)
from encoder.synthetic_columns import NodeColumns, draw_columns
from encoder.synthetic_text import cut, pools

MEDIAN_BYTES: Final = 6_400_000
"""The size of a median episode's JSON."""

_EPOCH: Final = 1_750_000_000.0
_CHARS_PER_TOKEN: Final = 3
_CALIBRATION_TOKENS: Final = 80_000
_PROMPT: Final = "Find out why the test fails, and mend it."
_TOOL: Final = Tool(
    name="run",
    description="Run a command.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}, "code": {"type": "string"}}},
)


def synthetic_episode(
    seed: int,
    *,
    target_bytes: int | None = None,
    num_nodes: int | None = None,
    tokens_per_node: int = 900,
    sampled_fraction: float = 0.5,
) -> Episode:
    """Make up an episode of one trace.

    Args:
        seed: the same seed and arguments give the same record.
        target_bytes: about how long its JSON shall be; within ten percent for 20 nodes or more. By default that of a
            median episode.
        num_nodes: how many nodes it shall have, instead of `target_bytes`.
        tokens_per_node: the mean number of tokens of a node; 40, 900 and 8,000 are typical of chats, agents and
            long reasoning.
        sampled_fraction: how many of the nodes are sampled, from 0.0 to 1.0.

    Raises:
        ValueError: both `target_bytes` and `num_nodes` are given, or one is out of range.
    """
    if target_bytes is not None and num_nodes is not None:
        raise ValueError("give target_bytes or num_nodes, not both")
    if tokens_per_node < 1 or not 0.0 <= sampled_fraction <= 1.0 or min(target_bytes or 1, num_nodes or 0) < 0:
        raise ValueError("sizes must be positive, and sampled_fraction from 0.0 to 1.0")
    num_tokens = None
    if num_nodes is None:
        target = MEDIAN_BYTES if target_bytes is None else target_bytes
        bytes_per_node = _bytes_per_node(tokens_per_node, sampled_fraction)
        num_nodes = max(1, round(target / bytes_per_node))
        num_tokens = round(tokens_per_node * target / bytes_per_node)
    return _build(seed, num_nodes, num_tokens or num_nodes * tokens_per_node, sampled_fraction)


@functools.cache
def _bytes_per_node(tokens_per_node: int, sampled_fraction: float) -> float:
    """Return the mean length of a node, its call included, in JSON: measured once, on a few nodes."""
    num_nodes = 2 * max(6, min(250, _CALIBRATION_TOKENS // tokens_per_node // 2))
    sizes = [len(_build(0, nodes, nodes * tokens_per_node, sampled_fraction).to_json()) for nodes in (1, 1 + num_nodes)]
    return (sizes[1] - sizes[0]) / num_nodes


def _build(seed: int, num_nodes: int, num_tokens: int, sampled_fraction: float) -> Episode:
    random = np.random.default_rng(seed)
    steps = np.floor(np.arange(num_nodes + 1) * sampled_fraction)
    sampled = np.concatenate([[False], steps[1:num_nodes] > steps[: num_nodes - 1]])[:num_nodes]
    columns = draw_columns(random, sampled, num_tokens) if num_nodes else []
    timestamps = (_EPOCH + 1000.0 * seed + np.cumsum(random.exponential(2.0, num_nodes))).tolist()
    messages = _messages(random, sampled.tolist(), columns)
    parents = _parents(random, sampled)
    nodes = [
        MessageNode(
            parent=parent,
            message=message,
            sampled=is_sampled,
            timestamp=timestamp,
            token_ids=column.token_ids,
            mask=column.mask,
            is_content=column.is_content,
            logprobs=column.logprobs,
            advantages=column.advantages,
        )
        for parent, message, is_sampled, timestamp, column in zip(
            parents, messages, sampled.tolist(), timestamps, columns, strict=True
        )
    ]
    task = TraceTask(type="SyntheticTask", data=TaskData(idx=seed, prompt=_PROMPT), key=f"synthetic-{seed}")
    end = timestamps[-1] if timestamps else _EPOCH
    trace = Trace(
        id=_digest(seed, "trace"),
        task=task,
        agent=AgentInfo(config=AgentConfig.model_validate({"model": "synthetic", "max_turns": 200})),
        tools=[_TOOL],
        nodes=nodes,
        calls=_calls(nodes),
        rewards={"correct": Reward(score=float(seed % 2)), "style": Reward(score=0.25, weight=0.5)},
        metrics={"turns": float(sampled.sum())},
        info={"seed": seed},
        is_completed=True,
        ok=True,
        stop_condition="agent_completed",
        timing=Timing(start=_EPOCH, agent=AgentSpan(start=_EPOCH, end=end, model=TimeSplit(duration=end - _EPOCH))),
    )
    return Episode(
        id=_digest(seed, "episode"),
        env=EnvInfo(id="synthetic", name="synthetic"),
        task=task,
        group=GroupInfo(id=f"group-{seed // 8}"),
        ok=True,
        traces=[trace],
    )


def _messages(random: np.random.Generator, sampled: list[bool], columns: list[NodeColumns]) -> list[Message]:
    """Return the nodes' messages: what is not sampled answers the tool call before it, or is the user's."""
    texts = pools()
    starts = random.integers(0, 2**31, len(sampled)).tolist()
    messages: list[Message] = []
    call_id: str | None = None
    for position, (is_sampled, column, start) in enumerate(zip(sampled, columns, starts, strict=True)):
        size = len(column.token_ids) * _CHARS_PER_TOKEN
        message: Message
        if is_sampled:
            call_id = f"call_{position}" if start % 8 else None
            message = _answer(start, size, call_id)
        elif position == 0:
            message = SystemMessage(content=cut(texts.prose, start, size))
        elif call_id is not None:
            message = ToolMessage(tool_call_id=call_id, content=cut(texts.output, start, size), name=_TOOL.name)
            call_id = None
        else:
            message = UserMessage(content=cut(texts.prose, start, size))
        messages.append(message)
    return messages


def _answer(start: int, size: int, call_id: str | None) -> AssistantMessage:
    """Return an answer that thinks, speaks and, given an id, calls a tool."""
    texts = pools()
    thought = cut(texts.prose, start, size // 3)
    if call_id is None:
        return AssistantMessage(content=cut(texts.prose, start + size, size - size // 3), reasoning_content=thought)
    code = cut(texts.code, start, size // 3)
    arguments = orjson.dumps({"path": f"src/app_{start % 100}.py", "code": code}).decode()
    return AssistantMessage(
        content=cut(texts.prose, start + size, size // 3),
        reasoning_content=thought,
        tool_calls=[ToolCall(id=call_id, name=_TOOL.name, arguments=arguments)],
    )


def _parents(random: np.random.Generator, sampled: np.ndarray) -> list[int | None]:
    """Return the nodes' parents: mostly the node before, and one in fifty an earlier one, from where it branches."""
    parents: list[int | None] = [position - 1 if position else None for position in range(len(sampled))]
    branching = (random.random(len(sampled)) < 0.02) & ~sampled
    for position in np.flatnonzero(branching[10:]).tolist():
        parents[position + 10] = position + 3
    return parents


def _calls(nodes: list[MessageNode]) -> list[ModelCall]:
    """Return the calls that made the sampled nodes, with the usage that their columns imply."""
    calls: list[ModelCall] = []
    contexts: list[int] = []
    for position, node in enumerate(nodes):
        cached = 0 if node.parent is None else contexts[node.parent]
        contexts.append(cached + len(node.token_ids))
        if not node.sampled:
            continue
        num_sampled = len(node.logprobs)
        usage = Usage(
            prompt_tokens=len(node.token_ids) - num_sampled, completion_tokens=num_sampled, cached_input_tokens=cached
        )
        has_calls = isinstance(node.message, AssistantMessage) and node.message.tool_calls
        call = ModelCall(
            node=position,
            model="synthetic",
            endpoint="/chat/completions",
            finish_reason="tool_calls" if has_calls else "stop",
            usage=usage,
            time=TimeSpan(start=node.timestamp - 1.5, end=node.timestamp),
        )
        calls.append(call)
    return calls


def _digest(seed: int, kind: str) -> str:
    """Return an id of 32 hex digits."""
    return hashlib.sha256(f"unstall synthetic {kind} {seed}".encode()).hexdigest()[:32]
