"""Compile classes ahead of their first encoding."""

from pydantic import BaseModel

from encoder.plan import plan_of
from encoder.writers.base import Writer
from encoder.writers.models import ModelWriter


def prepare(cls: type[BaseModel], *, exclude_none: bool = False) -> None:
    """Compile a class ahead of its first encoding, which would otherwise take some milliseconds longer.

    Args:
        cls: a model class; those that it holds are compiled with it.
        exclude_none: whether its instances will be encoded with `exclude_none`.

    Raises:
        TypeError: it is no model class.
    """
    if not (isinstance(cls, type) and issubclass(cls, BaseModel)):
        raise TypeError(f"a pydantic model class is needed, not {cls!r}")
    plan = plan_of(cls)
    waiting: list[Writer] = [] if plan is None else [plan]
    seen: set[int] = set()
    while waiting:
        writer = waiting.pop()
        if id(writer) not in seen:
            seen.add(id(writer))
            waiting += writer.children()
            if isinstance(writer, ModelWriter) and writer.gathered:
                writer.flat((exclude_none, None))
                writer.node((exclude_none, None))
