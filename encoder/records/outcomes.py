"""How a rollout went: errors and rewards."""

from pydantic import BaseModel


class Error(BaseModel):
    """An error that a rollout met."""

    type: str
    message: str
    status_code: int | None = None
    traceback: str | None = None


class Reward(BaseModel):
    """A named reward's score, and its weight in the sum."""

    score: float
    weight: float = 1.0
