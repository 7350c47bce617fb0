"""A rollout that goes on as a test says: what may happen to an episode, each thing by a name and two small numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import orjson

from encoder import (
    AgentConfig,
    AgentInfo,
    AssistantMessage,
    Episode,
    Error,
    EvalRunInfo,
    GroupInfo,
    InterceptRecord,
    MessageNode,
    ModelCall,
    ParentLink,
    Reward,
    RunInfo,
    SystemMessage,
    TaskData,
    TimeSpan,
    Timing,
    Tool,
    ToolCall,
    ToolMessage,
    Trace,
    TraceTask,
    TrainRunInfo,
    TrainWorkInfo,
    Usage,
    UserMessage,
    VersionInfo,
)

TEXTS = ["", "a", 'say "x"\n\\', "\u00e9\U0001f600\u2028", "[{,}]", "\x00\x1f", "long " * 9000]
FLOATS = [0.0, -0.0, 0.12345, 2.00005, -1e-9, 1e300, float("nan"), float("inf"), 123456.789]
RUNS: list[RunInfo] = [
    EvalRunInfo(id="eval-1"),
    TrainRunInfo(id="train-1", name="na\u00efve", work=TrainWorkInfo(step=7)),
]
NUMPY = orjson.OPT_SERIALIZE_NUMPY


def text(number: int) -> str:
    return TEXTS[number % len(TEXTS)]


def task(number: int) -> TraceTask[TaskData]:
    data = TaskData.model_validate({"idx": number, "prompt": text(number), "own": [number, None]})
    return TraceTask(type="t", data=data, key=None if number % 2 else "k")


def message(number: int) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: SystemMessage(content=text(number)),
        lambda: UserMessage(content=[{"type": "text", "text": text(number + 1)}]),
        lambda: AssistantMessage(content=None, tool_calls=[ToolCall(id="c", name="f", arguments=text(number))]),
        lambda: ToolMessage(tool_call_id="c", content=text(number)),
    ]
    return kinds[number % len(kinds)]()


def node(number: int, parent: int | None) -> MessageNode:
    length = number % 5 * 7
    return MessageNode(
        parent=parent,
        message=message(number),
        sampled=bool(number % 2),
        timestamp=1.5 * number,
        token_ids=np.arange(length) + number,
        mask=np.arange(length) % 3 > 0,
        logprobs=np.array(FLOATS[: number % len(FLOATS)]),
        advantages=None if number % 3 else [0.5] * length,
        tools=[Tool(name="f")] if number % 7 == 1 else [],
        loss_weights={"l": [0.1]} if number % 11 == 0 else None,
        sampling_mask=None,
    )


def trace(number: int, name: str, run: RunInfo | None = None) -> Trace:
    return Trace(
        id=name,
        verifiers=VersionInfo(version="1"),
        task=task(number),
        agent=AgentInfo(config=AgentConfig.model_validate({"model": text(number)})),
        run=run,
        timing=Timing(start=float(number)),
    )


class Rollout:
    """An episode, or a trace alone, to which things happen.

    Attributes:
        record: it.
        is_stale: whether something was changed that only a thorough delta looks at.
    """

    def __init__(self, is_episode: bool, number: int = 0) -> None:
        self.record: Any = Episode(id=f"e{number}", task=task(number)) if is_episode else trace(number, f"t{number}")
        self.is_stale = False
        self._serial = 0

    @property
    def traces(self) -> list[Trace]:
        return self.record.traces if isinstance(self.record, Episode) else [self.record]

    def happen(self, what: str, which: int, number: int) -> None:
        """Let something happen, to one of the traces if it is a trace's."""
        if what.startswith("episode"):
            if isinstance(self.record, Episode):
                getattr(self, what)(which, number)
        elif self.traces:
            getattr(self, what)(self.traces[which % len(self.traces)], number)

    def episode_trace(self, which: int, number: int) -> None:
        self._serial += 1
        name = f"t{self._serial}" if number % 8 else "twin"
        self.record.traces.insert(len(self.traces) - which % 2, trace(number, name))
        self.is_stale |= name == "twin"

    def episode_without_trace(self, which: int, number: int) -> None:
        if self.traces:
            self.is_stale |= self.traces.pop(which % len(self.traces)).id == "twin"

    def episode_turned(self, which: int, number: int) -> None:
        self.traces.reverse()
        self.is_stale |= sum(trace.id == "twin" for trace in self.traces) > 1

    def episode_said(self, which: int, number: int) -> None:
        self.record.ok = bool(number % 2)
        self.record.group = GroupInfo(id=text(number)) if number % 3 else None
        self.record.run = RUNS[number % 2] if number % 5 == 0 else None
        if which % 2:
            self.record.errors.append(Error(type="E", message=text(number)))

    def nodes(self, trace: Trace, number: int) -> None:
        for more in range(1 + number % 11):
            trace.nodes.append(node(number + more, len(trace.nodes) - 1 if trace.nodes and number % 4 else None))

    def calls(self, trace: Trace, number: int) -> None:
        usage = Usage(prompt_tokens=number, completion_tokens=3, cost=0.1) if number % 3 else None
        trace.calls += [ModelCall(node=number % (1 + len(trace.nodes)), usage=usage, endpoint=text(number))] * (
            1 + 70 * (number % 5 == 0)
        )

    def others(self, trace: Trace, number: int) -> None:
        trace.errors.append(Error(type="E", message=text(number), status_code=number))
        trace.extra_usage += [Usage(prompt_tokens=number, completion_tokens=1)] * (number % 2)
        trace.request_rewrites.append(InterceptRecord(handler=text(number)))
        trace.response_rewrites += trace.request_rewrites[: number % 2]

    def scores(self, trace: Trace, number: int) -> None:
        trace.rewards[f"r{number % 3}"] = Reward(score=number / 7) if number % 2 else None
        trace.metrics[f"m{number % 3}"] = FLOATS[number % len(FLOATS)]
        trace.mm_token_type_id_map[number] = 1
        trace.info[text(number)] = {"list": list(range(number)), "nested": [{"a": text(number + 1)}]}

    def ends(self, trace: Trace, number: int) -> None:
        trace.is_completed = trace.ok = bool(number % 2)
        trace.stop_condition = "done" if number % 3 else None
        trace.root_reply = text(number) if number % 4 else None
        trace.timing.agent.end = float(number)
        trace.timing.boot = TimeSpan(start=0.5, end=number / 3)
        trace.run = RUNS[0] if number % 6 == 0 else None
        trace.tools += [Tool.model_validate({"name": text(number), "more": None})] * (number % 2)

    def newest(self, trace: Trace, number: int) -> None:
        if trace.nodes:
            trace.nodes[-1].semantic_parents.append(ParentLink(node=number, type="t"))
            trace.nodes[-1].token_ids = np.arange(number % 9)
        if trace.calls:
            trace.calls[-1].usage = Usage(prompt_tokens=number, completion_tokens=number, cached_input_tokens=2)
            self.is_stale |= trace.calls[-1] is trace.calls[0] and len(trace.calls) > 1

    def older(self, trace: Trace, number: int) -> None:
        for changed in trace.nodes[number % 3 :: 2]:
            changed.advantages = np.full(number, 0.25)
            if len(changed.mask):
                changed.mask[0] = not changed.mask[0]
        self.is_stale = True

    def header(self, trace: Trace, number: int) -> None:
        if number % 2:
            trace.task = task(number)
            trace.verifiers = VersionInfo(version=text(number))
        else:
            trace.task.key = text(number)
            self.is_stale = True

    def shorter(self, trace: Trace, number: int) -> None:
        del trace.nodes[number % (1 + len(trace.nodes)) :]
        del trace.errors[: number % 3]
        self.is_stale = True

    def replaced(self, trace: Trace, number: int) -> None:
        trace.nodes = [node(number + position, None) for position in range(number)]
        trace.calls = trace.calls[number % 2 :]
        self.is_stale = True


THINGS = [
    *("episode_trace", "episode_without_trace", "episode_turned", "episode_said"),
    *("nodes", "nodes", "calls", "others", "scores", "ends", "newest", "older", "header", "shorter", "replaced"),
]


def dumped(record: Any, run: RunInfo | None = None, **options: Any) -> bytes:
    """What one dump of the record gives, with a run in it where there is one."""
    if run is not None:
        update: dict[str, Any] = {"run": run}
        if isinstance(record, Episode):
            update["traces"] = [trace.model_copy(update={"run": run}) for trace in record.traces]
        record = record.model_copy(update=update)
    return orjson.dumps(record.to_record(**options), option=NUMPY)
