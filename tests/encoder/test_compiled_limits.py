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


def written(node: Any, items: list[Any], row_cost: int, item_cost: int, text_of: Any = None) -> tuple[bytes, int]:
    arguments: Any = (row_cost, item_cost, {}, orjson.dumps, text_of, text_of is None)
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
