"""Columns held in a block come out as orjson writes them one by one."""

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.blocks import MARK, Block
from encoder.columns import ColumnKind
from encoder.plain_blocks import PlainBlock

INTS, BOOLS, FLOATS = ColumnKind.INTS, ColumnKind.BOOLS, ColumnKind.FLOATS

ints = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=6)
token_ids = st.lists(st.integers(0, 200_000), min_size=1, max_size=6)
wide_ints = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4)
runs = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: [False] * pair[0] + [True] * pair[1])
bools = st.one_of(runs.filter(bool), st.lists(st.booleans(), min_size=1, max_size=8))
common_floats = st.floats(-9.9, 9.9)
floats = st.lists(st.one_of(common_floats, common_floats, st.floats()), min_size=1, max_size=6)


def held(kind: int, values: list[Any], dtype: str) -> tuple[int, np.ndarray]:
    return kind, np.array(values, dtype=dtype)


columns = st.lists(
    st.one_of(
        token_ids.map(lambda values: held(INTS, values, "int32")),
        ints.map(lambda values: held(INTS, values, "int32")),
        wide_ints.map(lambda values: held(INTS, values, "int64")),
        bools.map(lambda values: held(BOOLS, values, "bool")),
        st.lists(common_floats, min_size=1, max_size=9).map(lambda values: held(FLOATS, values, "float64")),
        floats.map(lambda values: held(FLOATS, values, "float64")),
        st.lists(st.floats(width=32), min_size=1, max_size=5).map(lambda values: held(FLOATS, values, "float32")),
    ),
    min_size=1,
    max_size=8,
)


def plainly(kind: int, column: np.ndarray, decimals: int | None) -> list[Any]:
    values = column.tolist()
    return [round(value, decimals) for value in values] if kind == FLOATS and decimals is not None else values


def hold(block: Block, kind: int, column: np.ndarray) -> None:
    block.order.append(kind)
    (block.ints, block.bools, block.floats)[kind].append(column)


@given(columns, st.sampled_from([4, 4, 4, 0, 7, None]))
def test_a_filled_text_is_what_orjson_writes_for_the_lists(
    held_columns: list[tuple[int, np.ndarray]], decimals: int | None
) -> None:
    text = orjson.dumps([{"n": index, "column": MARK} for index in range(len(held_columns))])
    expected = [
        {"n": index, "column": plainly(kind, column, decimals)} for index, (kind, column) in enumerate(held_columns)
    ]
    for block in (Block(decimals), PlainBlock(decimals)):
        for kind, column in held_columns:
            hold(block, kind, column)
        assert b"".join(block.fill(text)) == orjson.dumps(expected)
        assert block.order == block.ints == block.bools == block.floats == []


def test_columns_of_a_forgotten_node_leave_no_trace() -> None:
    block = Block(4)
    hold(block, INTS, np.array([1, 2]))
    block.kept = len(block.order)
    hold(block, INTS, np.array([3]))
    hold(block, FLOATS, np.array([0.5]))
    block.forget()
    assert block.order == [INTS]
    assert b"".join(block.fill(orjson.dumps([MARK]))) == b"[[1,2]]"


@pytest.mark.parametrize("length", [1, 2047, 8192, 8193])
@pytest.mark.parametrize("trues", [0, 1, 700])
def test_masks_of_any_length(length: int, trues: int) -> None:
    mask = np.zeros(length, dtype=bool)
    mask[length - min(trues, length) :] = True
    block = Block(4)
    hold(block, BOOLS, mask)
    assert b"".join(block.fill(orjson.dumps([MARK]))) == orjson.dumps([mask.tolist()])


def test_every_cell_of_the_table_ends_both_ways() -> None:
    values = np.arange(-99_999, 100_000, 7) / 1e4
    block = Block(4)
    for part in np.array_split(values, 500):
        hold(block, FLOATS, part)
    hold(block, FLOATS, np.array([-0.0]))
    texts = b"".join(block.fill(orjson.dumps([MARK] * 501)))
    assert texts == orjson.dumps([part.tolist() for part in np.array_split(values, 500)] + [[-0.0]])


def test_strided_columns_are_written_too() -> None:
    block = Block(4)
    hold(block, INTS, np.arange(10)[::3])
    hold(block, BOOLS, (np.arange(10) > 4)[::2])
    hold(block, FLOATS, np.linspace(0, 1, 9)[::2])
    assert b"".join(block.fill(orjson.dumps([MARK, MARK, MARK]))) == orjson.dumps(
        [[0, 3, 6, 9], [False, False, False, True, True], [0.0, 0.25, 0.5, 0.75, 1.0]]
    )
