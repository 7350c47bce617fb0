"""Models that hold numpy columns in every kind of place."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, RootModel

from encoder.columns import BoolColumn, FloatColumn, IntColumn
from tests.encoder import zoo

CONTEXTS: list[Any] = [
    None,
    {},
    {"float_decimals": None},
    {"float_decimals": 4},
    {"float_decimals": 0},
    {"float_decimals": 15},
]


def no_ints() -> Any:
    """A default of no values. An array would not do: pydantic asks whether it is empty, and numpy 2.1 warns of that."""
    return Field(default_factory=lambda: np.zeros(0, np.int32))


class Columns(BaseModel):
    """Columns of every kind, and little else."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    ints: IntColumn = no_ints()
    mask: BoolColumn = Field(default_factory=lambda: np.zeros(0, bool))
    floats: FloatColumn = Field(default_factory=lambda: np.zeros(0))
    maybe: FloatColumn | None = None
    name: str = "n"


class Node(BaseModel):
    """Columns beside what may become large or unknown."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)
    parent: int | None = None
    columns: Columns = Columns()
    ints: IntColumn = no_ints()
    text: str = ""
    any: Any = None
    many: list[Columns] = []
    named: dict[str, Columns] = {}
    table: dict[str, FloatColumn] = {}
    rows: list[IntColumn] = []
    union: str | list[Columns] = ""
    hidden: Columns | None = Field(None, exclude=True)
    leaf: zoo.Leaf | None = None


def ints(*values: int, dtype: Any = np.int32) -> np.ndarray:
    return np.array(values, dtype=dtype)


def filled(length: int, seed: int = 0, **fields: Any) -> Columns:
    """Columns of one length."""
    rng = np.random.default_rng(seed + length)
    return Columns(
        **{
            "ints": rng.integers(0, 150_000, length).astype(np.int32),
            "mask": rng.integers(0, 2, length).astype(bool),
            "floats": rng.normal(0, 2, length),
            "maybe": rng.normal(0, 2, length).astype(np.float32) if seed % 2 else None,
            **fields,
        }
    )


def everywhere(columns: Columns) -> list[BaseModel]:
    """Models that hold the same columns in every place, others beside them."""
    other = filled(3, 5)
    nodes = [
        Node(columns=columns, parent=1),
        Node(columns=other, any=zoo.Color.RED, ints=ints(1, 2)),
        Node(columns=columns, text="x" * 40_000),
        Node(columns=other, many=[columns, other, columns], named={"k": columns, "l": other}),
        Node(
            ints=ints(4, 5),
            rows=[columns.ints, other.ints],
            table={"k": columns.floats, "l": other.floats},
            hidden=other,
        ),
        Node(columns=other, union=[columns, other], x1=1),
        Node(columns=other, union=[columns], leaf=zoo.LeafChild()),
        Node(columns=columns, leaf=zoo.Leaf()),
    ]
    return [
        columns,
        *nodes,
        RootModel[list[Node]](nodes),
        RootModel[dict[str, Node]]({str(i): node for i, node in enumerate(nodes)}),
    ]
