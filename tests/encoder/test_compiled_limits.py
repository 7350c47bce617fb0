"""What one call of the compiled part may cost, and what may change while it runs."""

from typing import Any

import numpy as np
import orjson
import pytest
from pydantic import BaseModel

from encoder.columns import ColumnKind
from encoder.compiled import IS_COMPILED, native
from encoder.plan import plan_of

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="there was no compiler when the encoder was installed")

LARGE = 10**9


class Sparse(BaseModel):
    a: int | None = None
    b: int | None = None


def written(
    node: Any, items: list[Any], row_cost: int, item_cost: int, text_of: Any = None, most_depth: int = 200
) -> tuple[bytes, int]:
    arguments: Any = (row_cost, item_cost, most_depth, {}, orjson.dumps, text_of, text_of is None)
    return native.write_row(node, items, None, 0, len(items), *arguments)


@pytest.mark.parametrize("exclude_none", [False, True])
def test_what_has_no_text_costs_something_too(exclude_none: bool) -> None:
    plan = plan_of(Sparse)
    assert plan is not None
    node_of_sparse = plan.node((exclude_none, None))
    assert node_of_sparse is not None
    for node, item in (
        (native.anything(), []),
        (native.anything(), {}),
        (native.column(ColumnKind.INTS), np.array([], dtype=np.int32)),
        (node_of_sparse, Sparse()),
    ):
        assert 0 < written(node, [item] * 2000, 1000, LARGE)[1] < 200
        assert written(native.items(node), [[item] * 2000], LARGE, 1000) == (b"", 0)


def _inside(value: Any, levels: int) -> Any:
    """A value inside of so many containers under `Any`."""
    for level in range(levels):
        value = [value] if level % 2 else {"inside": value}
    return value


@pytest.mark.parametrize(
    ("new_node", "value", "levels"),
    [
        (lambda: native.anything(), _inside(1, 200), 200),
        (lambda: native.anything(), _inside([], 200), 201),
        (lambda: native.anything(), _inside([0.5, 1.5], 60), 61),
        (lambda: native.items(native.scalar(float)), [0.5, 1.5], 1),
        (lambda: native.members(native.column(ColumnKind.INTS)), {"a": np.array([1, 2])}, 2),
        (lambda: native.items(native.anything()), _inside(1, 100), 100),
    ],
    ids=["values", "an empty list", "floats", "declared floats", "columns", "declared items"],
)
def test_containers_inside_each_other(new_node: Any, value: Any, levels: int) -> None:
    text = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    assert written(new_node(), [value], LARGE, LARGE, most_depth=levels) == (text, 1)
    assert written(new_node(), [value], LARGE, LARGE, most_depth=levels - 1) == (b"", 0)


def test_a_model_is_a_container() -> None:
    plan = plan_of(Sparse)
    assert plan is not None
    items = native.items(plan.node((False, None)) or native.anything())
    assert written(items, [[Sparse()]], LARGE, LARGE, most_depth=2) == (b'[{"a":null,"b":null}]', 1)
    assert written(items, [[Sparse()]], LARGE, LARGE, most_depth=1) == (b"", 0)


def test_a_container_that_holds_itself_ends() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert written(native.anything(), [1, endless], LARGE, LARGE, most_depth=253) == (b"1", 1)


def test_a_column_longer_than_memory() -> None:
    column = np.broadcast_to(np.int8(1), (2**62,))
    with pytest.raises(MemoryError):
        native.column_text(column, ColumnKind.INTS)


def test_a_member_that_is_moved_to_the_end_meanwhile() -> None:
    members = {"a": np.array([0.5]), "b": np.array([1.5])}

    def moving(column: Any) -> bytes:
        members["a"] = members.pop("a")
        return orjson.dumps(column.tolist())[1:-1]

    node = native.members(native.column(ColumnKind.FLOATS))
    assert written(node, [members], LARGE, LARGE, moving) == (b"", 0)
