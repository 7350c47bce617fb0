"""Model calls: what was asked for, and what it cost."""

from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from encoder.records.outcomes import Error
from encoder.records.timing import TimeSpan

FinishReason = Literal["stop", "length", "tool_calls"] | None


class Usage(BaseModel):
    """The tokens of one call as the provider counts them; cost in the provider's currency.

    `prompt_tokens` leaves out what was read from a cache; `reasoning_tokens` are among the `completion_tokens`.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None

    @property
    def input_tokens(self) -> int:
        """All tokens that went in, those from the cache included."""
        return self.prompt_tokens + (self.cached_input_tokens or 0)

    @property
    def total_tokens(self) -> int:
        """All tokens that went in or came out."""
        return self.input_tokens + self.completion_tokens


class SamplingConfig(BaseModel):
    """Sampling settings. Unknown keys are kept; `max_completion_tokens` is read as `max_tokens`."""

    model_config = ConfigDict(extra="allow")

    temperature: float | None = None
    top_p: float | None = None
    reasoning_effort: str | None = None
    max_tokens: int | None = Field(default=None, validation_alias=AliasChoices("max_tokens", "max_completion_tokens"))


class PolicyEvent(BaseModel):
    """A policy's decision about a call, made before it was sent."""

    code: str
    paths: list[str]


class ACPInfo(BaseModel):
    """What a harness that speaks the agent client protocol says about a call."""

    request_id: str


class ModelCall(BaseModel):
    """One call to a model, whether it succeeded or not."""

    node: int | None = None
    """Index of the node that holds the answer."""
    model: str | None = None
    sampling: SamplingConfig | None = None
    endpoint: str | None = None
    finish_reason: FinishReason = None
    usage: Usage | None = None
    time: TimeSpan = Field(default_factory=TimeSpan)
    error: Error | None = None
    policy: PolicyEvent | None = None
    acp: ACPInfo | None = None
