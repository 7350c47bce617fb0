"""Generic models that can be pickled, wherever they were parametrized.

Pickle finds a class by its module and name. Pydantic puts `Episode[MyTaskData]` where it would be found only if that
expression stood at the top of a module, and never the `Trace[MyTaskData]` inside it. Origin and arguments are found.
"""

from typing import Any

from pydantic import BaseModel

from encoder.schema import generic_of


class GenericModel(BaseModel):
    """A model whose parametrized classes are pickled as their origin and their arguments."""

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        reduced = super().__reduce_ex__(protocol)
        origin, arguments = generic_of(type(self))
        if origin is None or isinstance(reduced, str):
            return reduced
        return (_new, (origin, arguments), *reduced[2:])


def _new(origin: Any, arguments: tuple[Any, ...]) -> BaseModel:
    """Return an instance without any state yet."""
    cls = origin[arguments]
    blank: BaseModel = cls.__new__(cls)
    return blank
