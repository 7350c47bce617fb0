from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.addresses import segment
from uploader.errors import ConfigurationError


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_an_id_is_one_segment_whatever_it_holds(identifier: str) -> None:
    encoded = segment(identifier)
    assert unquote(encoded) == identifier
    path = httpx.URL(f"https://h/api/v1/traces/{encoded}/nodes").raw_path.decode()
    assert path == f"/api/v1/traces/{encoded}/nodes"
    assert path.count("/") == 5


@pytest.mark.parametrize("identifier", [".", "..", "a/b", "../x", "a?b#c", "%2e", "a b", "é"])
def test_hard_ids(identifier: str) -> None:
    url = httpx.URL(f"https://h/api/v1/traces/{segment(identifier)}")
    assert url.raw_path.decode().startswith("/api/v1/traces/")
    assert (url.query, url.fragment) == (b"", "")


def test_an_empty_id_would_ask_for_the_list() -> None:
    with pytest.raises(ConfigurationError, match="id: it is empty"):
        segment("")


@pytest.mark.parametrize("identifier", [None, 5, b"t", "\ud800", "x" * 4097, "\N{ROCKET}" * 400])
def test_what_is_no_id(identifier: Any) -> None:
    with pytest.raises(ConfigurationError, match="id: it "):
        segment(identifier)
    assert segment("\N{ROCKET}" * 64)
