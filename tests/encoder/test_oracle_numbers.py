"""Numbers and text at their borders, and numpy where the oracle takes it (family 7)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import decimal
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, create_model

from tests.encoder import values, zoo
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id

NUMBERS: list[Any] = [
    *values.INT64_BORDERS, *values.FLOAT_BORDERS, -(2**53), 2**64, 2**65, 10**30, -(2**63) - 1, -(2**64),
    True, False,
    1e-5, 1e-4, 123456789.123456789, 1e17, 123e15, 2.2250738585072014e-308, 2.2250738585072011e-308, 1.0,
    100.0, 1 / 3, -1e-300,
    zoo.Level.HIGH, zoo.Bits.ONE | zoo.Bits.TWO, zoo.SubInt(2**53 + 1), zoo.SubInt(2**64), zoo.SubFloat(-0.0),
    zoo.SubFloat("nan"),
    decimal.Decimal("1.10"), decimal.Decimal("NaN"), 1 + 2j,
]  # fmt: skip
NUMPY: list[Any] = [
    np.float64(1.5), np.float64("nan"), np.float64(-0.0), np.float32(1.1), np.float16(1), np.int64(2**53 + 1),
    np.int8(1), np.uint64(2**64 - 1), np.bool_(True),
    np.str_("np"), np.bytes_(b"np"), np.datetime64("2020-01-01"), np.timedelta64(1, "s"), np.array([1, 2]),
    np.array([1.5]), np.array(1), np.array(["a"]),
    np.array([[1], [2]]), np.zeros((0,)), np.void(b"x"), np.complex128(1), [np.float64(1)],
    {"k": np.float64(1)}, (np.str_("x"),), {np.float64(1.5): 1},
]  # fmt: skip
TYPES: list[Any] = [
    int, float, bool, str, Any, int | float, float | int, int | str, int | None, float | None, Literal[1, 2],
    decimal.Decimal, list[int], list[float],
    dict[str, int], dict[str, float], object, list[Any], np.float64,
]  # fmt: skip


@pytest.mark.parametrize("annotation", TYPES, ids=stable_id)
@pytest.mark.parametrize("mode", [None, "constants", "strings"])
def test_every_number_under_every_type(annotation: Any, mode: Any) -> None:
    config = ConfigDict(arbitrary_types_allowed=True, **({"ser_json_inf_nan": mode} if mode else {}))
    cls = create_model("Numbered", __config__=config, a=(annotation, ...))
    for number in NUMBERS if mode else [*NUMBERS, *NUMPY]:
        for value in (number, [number], {"k": number}, [1, number, 2.5]):
            assert_same(cls.model_construct(a=value))
        assert_same(cls.model_construct(a=number), exclude_none=True)


@oracle_settings(150)
@given(
    st.lists(st.floats() | st.floats(width=32) | st.floats(width=16), max_size=30),
    st.lists(st.integers(-(2**64), 2**65) | st.integers(-(2**63), 2**64 - 1), max_size=3),
)
def test_generated_numbers(floats: list[float], ints: list[int]) -> None:
    for item_type in (float, Any, int):
        cls = create_model("Generated", a=(list[item_type], []), b=(list[item_type], []))
        assert_same(cls.model_construct(a=floats))
        assert_same(cls.model_construct(a=floats, b=ints))


STRINGS = [
    "".join(map(chr, range(0x80))),
    "".join(map(chr, range(0x80, 0x800))),
    "".join(map(chr, range(0x7F0, 0xD800, 7))),
    "".join(map(chr, range(0xE000, 0x11000))),
    "\U0010ffff\U0001f600\U00010000" * 5,
    "\u2028\u2029\ufeff\ufffe\uffff\x7f\x85",
    "\\" * 7,
    '"' * 7,
    "</script>",
    "\ud800",
    "\udc00",
    "\ud83d\ude00",
    "ok \ud800 not",
    "a" * 1_000_000,
    "\u4e2d" * 400_000,
    "\U0001f600" * 300_000,
    '"\\\n\x00\x1f' * 50_000,
    "a" * 70_000 + "\ud800",
    "\ud800" + "a" * 70_000,
    "a" * 32_767 + "\U0001f600\u00e9" + "b" * 32_768,
    ("\u00e9" * 16_383 + '"') * 5,
    zoo.SubStr("x" * 100_000),
]


class Texts(BaseModel):
    model_config = ConfigDict(extra="allow")
    s: str = ""
    o: str | None = None
    u: str | list[int] = ""
    u2: int | str = 0
    a: Any = None
    texts: list[str] = []
    d: dict[str, str] = {}
    leaf: zoo.Leaf = zoo.Leaf()


@pytest.mark.parametrize("text", STRINGS, ids=[f"{number}" for number in range(len(STRINGS))])
def test_every_text_everywhere(text: str) -> None:
    for name in ("s", "o", "u", "u2", "a"):
        assert_same(Texts.model_construct(**{name: text}), exclude_unset=True)
    assert_same(
        Texts.model_construct(texts=["x", text], d={"k": text, "m": "z"}, leaf=zoo.Leaf.model_construct(b=text))
    )
    assert_same(Texts.model_construct(a=["x", {"k": text}], x=text, y=[text, zoo.Leaf.model_construct(b=text)]))
    assert_same(Texts.model_construct(d={text: "v"}))
    assert_same(Texts.model_construct(a={text: "v"}))


@oracle_settings(60)
@given(st.text(max_size=40), st.sampled_from([1, 1000, 9000, 33_000]))
def test_generated_texts(text: str, times: int) -> None:
    assert_same(Texts(s=text * times, texts=[text, text], a={text: [text * times]}, d={text: text}))


@oracle_settings(60)
@given(st.text(st.characters(), max_size=20))
def test_generated_texts_with_surrogates(text: str) -> None:
    for model in (
        Texts.model_construct(s=text),
        Texts.model_construct(d={text: "v"}),
        Texts.model_construct(a=[text]),
        Texts.model_construct(texts=[text]),
    ):
        assert_same(model)
