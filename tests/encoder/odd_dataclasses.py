"""Dataclasses that more than their attributes have a say in."""

from dataclasses import dataclass
from typing import Any

import pydantic.dataclasses
from pydantic import ConfigDict, Field, field_serializer, model_serializer


@pydantic.dataclasses.dataclass
class Told:
    a: int = 1

    @field_serializer("a")
    def doubled(self, value: int) -> int:
        return 2 * value


@pydantic.dataclasses.dataclass
class Whole:
    a: int = 1

    @model_serializer
    def written(self) -> dict[str, Any]:
        return {"whole": self.a}


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class Extra:
    a: int = 1


@pydantic.dataclasses.dataclass
class Clash:
    a: int = Field(1, serialization_alias="b")
    b: int = 2


@dataclass
class Lazy:
    a: int = 1

    def __getattr__(self, name: str) -> int:
        return 7
