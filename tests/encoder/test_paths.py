"""With fast paths on each of them is taken, with them off none is; and both ways write the oracle's bytes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pydantic import BaseModel

import encoder
from encoder.compiled import IS_COMPILED
from encoder.encode import to_json
from encoder.paths import PATHS
from encoder.plan import plan_of
from encoder.synthetic import synthetic_episode
from tests.encoder import zoo
from tests.encoder.oracle import oracle
from tests.encoder.ways import ALL_FAST, DUMPED, IN_PYTHON, IN_STEPS, PLAIN_COLUMNS, Way, all_fast

SOURCES = str(Path(str(encoder.__file__)).parent)

# What tells that a fast path is taken, or the plain way beside it: a function of the encoder that is called.
PLAN = "ModelWriter.steps"
COMPILED = "a compiled function"
NUMBERS = "exact_text"
JOINED = "Block.fill"
TABLE = "float_texts"
FAST = {PLAN, COMPILED, NUMBERS, JOINED, TABLE}

# The same by the compiled part, which brings its own way with columns.
ROWS = "Rows._write"
NATIVE = {ROWS, "NativeBlock.fill", "count_ordered"}
FASTEST = (FAST - {JOINED, TABLE}) | NATIVE if IS_COMPILED else FAST

WHOLE = "dump_whole"
TREE = "write_tree"
FIELDS = "Instance._declared"
ITEMS = "ListWriter._steps"
MEMBERS = "DictWriter._steps"
COLUMNS = "ColumnWriter._steps"
TEXT = "write_text"
ALONE = "PlainBlock.text"
PART = "dumped"

EPISODE = synthetic_episode(3, num_nodes=12, tokens_per_node=30)
MODELS: dict[str, BaseModel] = {
    "episode": EPISODE,
    "chats": zoo.Loose(a=1, b=zoo.Leaf(), c={"k": ["x", 1, None]}, d=zoo.Leaf(b="x" * 50_000)),
    "tree": zoo.Tree(a=["x" * 50_000], kids=[zoo.Tree(a=1)], named={"k": zoo.Tree(a={"l": [1.5]})}),
    "numbers": zoo.Box[list[int]](a=[1, 2, 3], b=[[4], list(range(9000))]),
    "computed": zoo.Computed(a=1),
    "what only pydantic knows": zoo.Tree(a=[zoo.Color.RED, zoo.Point()]),
    "hidden": zoo.Hidden(b=1, c=[2]),
    "what writes itself": zoo.PlainModel(b=[1]),
}


@contextmanager
def noted() -> Iterator[set[str]]:
    """The functions of the encoder that are called meanwhile."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code.co_filename.startswith("<flat "):
                called.add(COMPILED)
            elif code.co_filename.startswith(SOURCES):
                called.add(code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize(
    ("way", "taken", "left"),
    [
        (ALL_FAST, FASTEST | {WHOLE, PART}, {ALONE}),
        (IN_PYTHON, FAST | {WHOLE, PART}, {ALONE} | NATIVE),
        (PLAIN_COLUMNS, FAST - {JOINED, TABLE} | {"PlainBlock.fill", ALONE, WHOLE}, {JOINED, TABLE}),
        (IN_STEPS, {PLAN, FIELDS, ITEMS, MEMBERS, COLUMNS, TEXT, ALONE, PART, TREE}, FAST - {PLAN}),
        (DUMPED, {WHOLE, TREE, TEXT}, FAST | {FIELDS, ITEMS, MEMBERS, COLUMNS, ALONE, PART}),
    ],
    indirect=["way"],
    ids=lambda value: value.name if isinstance(value, Way) else "",
)
def test_the_paths_that_each_way_takes(way: Way, taken: set[str], left: set[str]) -> None:
    called: set[str] = set()
    for model in MODELS.values():
        expected = oracle(model)
        with noted() as found:
            written = to_json(model)
        assert written == expected
        called |= found
    assert taken <= called, f"not taken: {taken - called}"
    assert called.isdisjoint(left), f"taken though switched off: {called & left}"


@pytest.mark.parametrize("name", MODELS)
def test_each_way_has_a_plan_of_its_own(name: str) -> None:
    cls = type(MODELS[name])
    fast = plan_of(cls)
    with PATHS.only(plans=True):
        in_steps = plan_of(cls)
        assert in_steps is plan_of(cls)
    with PATHS.only():
        assert plan_of(cls) is None
    assert plan_of(cls) is fast
    assert (fast is None) == (in_steps is None)
    assert fast is None or fast is not in_steps


def test_switches_are_as_before_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), PATHS.only():
        raise ZeroDivisionError
    assert all_fast()
