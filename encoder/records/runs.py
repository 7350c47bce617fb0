"""Where an episode belongs: its environment, its group, its run and the work it did there."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator


class EnvInfo(BaseModel):
    """The environment that ran the episode."""

    id: str = ""
    name: str | None = None


class GroupInfo(BaseModel):
    """The group of rollouts that the episode belongs to."""

    id: str


class PolicySpan(BaseModel):
    """The versions of the policy that generated an episode, from the first to the last."""

    start: int
    end: int

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"the policy span ends at {self.end}, before its start at {self.start}")
        return self

    @property
    def drift(self) -> int:
        """How many versions the policy moved on meanwhile."""
        return self.end - self.start


class TrainWorkInfo(BaseModel):
    """An episode to train on, dispatched at this step."""

    type: Literal["train"] = "train"
    step: int
    policy: PolicySpan | None = None


class EvalWorkInfo(BaseModel):
    """An episode to evaluate with, dispatched at this step."""

    type: Literal["eval"] = "eval"
    step: int
    policy: PolicySpan | None = None


WorkInfo = Annotated[TrainWorkInfo | EvalWorkInfo, Field(discriminator="type")]


class TrainRunInfo(BaseModel):
    """A training run, and what the episode did for it."""

    type: Literal["train"] = "train"
    id: str
    name: str | None = None
    work: WorkInfo


class EvalRunInfo(BaseModel):
    """An evaluation run."""

    type: Literal["eval"] = "eval"
    id: str
    name: str | None = None


RunInfo = Annotated[TrainRunInfo | EvalRunInfo, Field(discriminator="type")]
