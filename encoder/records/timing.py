"""When things happened, in epoch seconds, and how long they took, in seconds."""

import time

from pydantic import BaseModel, Field


class TimeSpan(BaseModel):
    """From when to when; 0.0 while not known."""

    start: float = 0.0
    end: float = 0.0


class TimeSplit(BaseModel):
    """A part of a span, as a duration."""

    duration: float = 0.0


class AgentSpan(TimeSpan):
    """The agent's span, and how it divides between the model and its harness."""

    model: TimeSplit = Field(default_factory=TimeSplit)
    harness: TimeSplit = Field(default_factory=TimeSplit)


class Timing(BaseModel):
    """A trace's stages."""

    start: float = Field(default_factory=time.time)
    boot: TimeSpan = Field(default_factory=TimeSpan)
    setup: TimeSpan = Field(default_factory=TimeSpan)
    agent: AgentSpan = Field(default_factory=AgentSpan)
    finalize: TimeSpan = Field(default_factory=TimeSpan)
    scoring: TimeSpan = Field(default_factory=TimeSpan)
