"""Tasks: what an agent was asked to do."""

from pathlib import Path
from typing import Any, Generic

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny
from typing_extensions import TypeVar

from encoder.records.generic import GenericModel
from encoder.records.messages import Message


class TaskTimeout(BaseModel):
    """The time limit of each stage, in seconds."""

    model_config = ConfigDict(frozen=True)

    setup: float | None = None
    agent: float | None = None
    finalize: float | None = None
    scoring: float | None = None


class TaskResources(BaseModel):
    """What the task's machine needs: cores, memory and disk in gigabytes, a GPU by name."""

    model_config = ConfigDict(frozen=True)

    cpu: float | None = None
    memory: float | None = None
    gpu: str | None = None
    disk: float | None = None


class Artifact(BaseModel):
    """A path to collect when the task is done."""

    source: str
    exclude: list[str] = Field(default_factory=list)
    required: bool = True


class TaskData(BaseModel):
    """A task's data. Subclass it to declare your own fields; unknown keys are kept in any case."""

    model_config = ConfigDict(frozen=True, extra="allow")

    idx: int | None = None
    id: str | None = None
    name: str | None = None
    description: str | None = None
    prompt: str | list[Message] | None = None
    system_prompt: str | None = None
    image: str | None = None
    workdir: str | None = None
    agent_user: str | None = None
    skills: list[Path | dict[str, Any]] = Field(default_factory=list)
    network_allow: list[str] = Field(default_factory=lambda: ["*"])
    network_block: list[str] = Field(default_factory=list)
    artifacts: list[Artifact] = Field(default_factory=list)
    artifact_max_bytes: int = 32 * 1024 * 1024
    timeout: TaskTimeout = TaskTimeout()
    resources: TaskResources = TaskResources()


DataT = TypeVar("DataT", bound=TaskData, default=TaskData)


class TraceTask(GenericModel, Generic[DataT]):
    """A task as an episode or a trace records it.

    The data is written with the fields of its own class, also where a bare `TraceTask` declares none.
    """

    type: str
    data: SerializeAsAny[DataT]
    key: str | None = None
    hash: str | None = None
