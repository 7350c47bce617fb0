"""The record models of the trace schema, version 1: an episode, its traces, and all they hold."""

from encoder.records.calls import ACPInfo, FinishReason, ModelCall, PolicyEvent, SamplingConfig, Usage
from encoder.records.episodes import Episode
from encoder.records.messages import (
    AssistantMessage,
    ContentPart,
    ImageUrl,
    ImageUrlContentPart,
    Message,
    MessageContent,
    SystemMessage,
    TextContentPart,
    Tool,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from encoder.records.nodes import MessageNode, ParentLink, SamplingMask
from encoder.records.outcomes import Error, Reward
from encoder.records.producers import AgentConfig, AgentInfo, InterceptRecord, RuntimeInfo, VersionInfo
from encoder.records.runs import (
    EnvInfo,
    EvalRunInfo,
    EvalWorkInfo,
    GroupInfo,
    PolicySpan,
    RunInfo,
    TrainRunInfo,
    TrainWorkInfo,
    WorkInfo,
)
from encoder.records.tasks import Artifact, DataT, TaskData, TaskResources, TaskTimeout, TraceTask
from encoder.records.timing import AgentSpan, TimeSpan, TimeSplit, Timing
from encoder.records.traces import TRACE_VERSION, Trace

__all__ = [
    "TRACE_VERSION",
    "ACPInfo",
    "AgentConfig",
    "AgentInfo",
    "AgentSpan",
    "Artifact",
    "AssistantMessage",
    "ContentPart",
    "DataT",
    "EnvInfo",
    "Episode",
    "Error",
    "EvalRunInfo",
    "EvalWorkInfo",
    "FinishReason",
    "GroupInfo",
    "ImageUrl",
    "ImageUrlContentPart",
    "InterceptRecord",
    "Message",
    "MessageContent",
    "MessageNode",
    "ModelCall",
    "ParentLink",
    "PolicyEvent",
    "PolicySpan",
    "Reward",
    "RunInfo",
    "RuntimeInfo",
    "SamplingConfig",
    "SamplingMask",
    "SystemMessage",
    "TaskData",
    "TaskResources",
    "TaskTimeout",
    "TextContentPart",
    "TimeSpan",
    "TimeSplit",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolMessage",
    "Trace",
    "TraceTask",
    "TrainRunInfo",
    "TrainWorkInfo",
    "Usage",
    "UserMessage",
    "VersionInfo",
    "WorkInfo",
]
