from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.chat_values import is_storable, json_text, storable, text_of


def test_text() -> None:
    assert [text_of(value) for value in (None, "a", 1, ["é"], {"a": None})] == ["", "a", "1", '["é"]', '{"a":null}']
    assert json_text({"a": MappingProxyType({"b": {1}})}) == '{"a":{"b":"{1}"}}'


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, "\ud800", {"\ud800": 1}, {1: 2}, {1}])
def test_what_no_record_holds(value: Any) -> None:
    assert not is_storable(value)
    (kept,) = storable({"k\ud800": value}).items()
    assert kept[0] == "k\\ud800"
    assert isinstance(kept[1], str)
    orjson.dumps(kept)


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(), st.lists))
def test_what_a_record_holds_stays(value: Any) -> None:
    assert storable({"k": value})["k"] is value
