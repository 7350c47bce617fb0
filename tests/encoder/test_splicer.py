"""Pieces: their size, their rhythm, and the path of what cannot be written."""

from typing import Any

import pytest
from pydantic import BaseModel

from encoder.errors import EncodeError
from encoder.splicer import PIECE_BYTES, json_path, splice
from encoder.writers.base import TEXT_SLICE


class Leaf(BaseModel):
    text: str
    more: dict[str, Any] = {}


class Tree(BaseModel):
    leaves: list[Leaf]


@pytest.mark.every_path
def test_pieces_are_neither_tiny_nor_huge() -> None:
    tree = Tree(leaves=[Leaf(text="x" * (37 * index % 3000)) for index in range(2000)])
    pieces = [piece for piece in splice(tree, {}) if piece]
    assert all(PIECE_BYTES <= len(piece) < 3 * PIECE_BYTES for piece in pieces[:-1])


@pytest.mark.every_path
@pytest.mark.parametrize("text", ["a" * 500_000, "\x01" * 500_000, "字" * 500_000, "😀" * 500_000])
def test_a_long_text_is_written_in_slices(text: str) -> None:
    tree = Tree(leaves=[Leaf(text=text)])
    pieces = list(splice(tree, {}))
    assert len(pieces) >= len(text) // TEXT_SLICE
    assert b"".join(pieces) == tree.model_dump_json().encode()


@pytest.mark.every_path
def test_there_is_a_moment_to_give_way_between_any_two_calls() -> None:
    tree = Tree(leaves=[Leaf(text="x", more={"k": ["y" * 1000] * 1000})])
    assert len(list(splice(tree, {}))) > 1_000_000 // PIECE_BYTES


@pytest.mark.parametrize(
    ("labels", "path"),
    [
        ((), "$"),
        (("traces", 0, "nodes", 3, "message", "content"), "$.traces[0].nodes[3].message.content"),
        (("a key", 'say "x"', "back\\slash", "9lives"), '$["a key"]["say \\"x\\""]["back\\\\slash"]["9lives"]'),
    ],
)
def test_paths(labels: tuple[str | int, ...], path: str) -> None:
    assert json_path(labels) == path


@pytest.mark.every_path
@pytest.mark.parametrize(
    ("model", "path"),
    [
        (Tree(leaves=[Leaf(text="ok"), Leaf(text="\ud800")]), "$.leaves[1].text"),
        (Tree(leaves=[Leaf(text="ok")] * 3000 + [Leaf(text="\ud800")]), "$.leaves[3000].text"),
        (Tree(leaves=[Leaf(text="x" * 100_000 + "\ud800")]), "$.leaves[0].text"),
        (Tree(leaves=[Leaf(text="", more={"a": [1, {"b c": 2**64}]})]), '$.leaves[0].more.a[1]["b c"]'),
        (Tree(leaves=[Leaf(text="", more={"a": [0] * 50_000 + [{"b": object()}]})]), "$.leaves[0].more.a[50000].b"),
        (Tree(leaves=[Leaf(text="", more={"a": {object()}})]), "$.leaves[0].more.a[0]"),
    ],
)
def test_an_error_says_where(model: BaseModel, path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        list(splice(model, {}))
    assert caught.value.path == path
    assert caught.value.__cause__ is not None


@pytest.mark.every_path
def test_an_unknown_argument_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="indent"):
        splice(Tree(leaves=[]), {"indent": 2})


@pytest.mark.every_path
def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(EncodeError, match="dict"):
        list(splice({}, {}))  # type: ignore[arg-type]
