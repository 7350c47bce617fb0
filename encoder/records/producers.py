"""Who made a trace: the build that wrote it, the agent that ran, and what rewrote its messages."""

import functools
from importlib import metadata

from pydantic import BaseModel, ConfigDict


class VersionInfo(BaseModel):
    """A build: its version, and its commit where that is known."""

    version: str
    commit: str | None = None


def current_build() -> VersionInfo:
    """Return the build of this package."""
    return VersionInfo(version=_version())


@functools.cache
def _version() -> str:
    try:
        return metadata.version("unstall")
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return "0+unknown"


class AgentConfig(BaseModel):
    """An agent's settings, whatever they are."""

    model_config = ConfigDict(extra="allow")


class RuntimeInfo(BaseModel):
    """The machine or sandbox that an agent ran in, however it is described."""

    model_config = ConfigDict(extra="allow")


class AgentInfo(BaseModel):
    """The agent that produced a trace."""

    config: AgentConfig
    runtime: RuntimeInfo | None = None
    name: str = "agent"
    trainable: bool = True


class InterceptRecord(BaseModel):
    """A handler that changed a request or a response."""

    handler: str
