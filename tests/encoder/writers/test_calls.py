"""What pydantic's native code or the user breaks off: a panic has a path, an interrupt passes through."""

from collections.abc import Iterator
from typing import Any

import pytest

from encoder.encode import to_json
from encoder.writers.calls import locate
from tests.encoder import zoo


class Panic(BaseException):
    """Looks like what pydantic raises when its native code gives up."""

    __module__ = "pyo3_runtime"


def interrupted() -> Iterator[int]:
    yield 1
    raise KeyboardInterrupt


@pytest.mark.every_path
def test_an_interrupt_while_pydantic_dumps_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        to_json(zoo.Tree(a=interrupted()))


@pytest.mark.parametrize(("error", "path"), [(ValueError, (1, "k")), (Panic, (1, "k"))])
def test_the_part_at_fault_is_found(error: type[BaseException], path: tuple[int | str, ...]) -> None:
    def write(value: Any) -> None:
        if "fault" in repr(value):
            raise error

    assert locate([1, {"j": 2, "k": "fault"}], write) == path


def test_an_interrupt_while_it_is_looked_for_passes_through() -> None:
    def write(value: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        locate([1, 2], write)
