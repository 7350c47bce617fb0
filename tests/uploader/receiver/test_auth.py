"""The bearer token."""

import pytest

from uploader.receiver.auth import check_bearer
from uploader.receiver.errors import RequestRefusedError


@pytest.mark.parametrize("header", ["Bearer key", "bearer key", "BEARER  key "])
def test_the_right_token(header: str) -> None:
    check_bearer(header, "key")


@pytest.mark.parametrize(
    "header", [None, "", "key", "Bearer", "Bearer ", "Bearer Key", "Bearer key2", "Bearer ke", "Basic key"]
)
def test_another_token(header: str | None) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        check_bearer(header, "key")
    assert caught.value.status == 401
    assert "key2" not in str(caught.value)
    check_bearer(header, None)


def test_an_empty_key_is_a_key() -> None:
    with pytest.raises(RequestRefusedError):
        check_bearer("Bearer x", "")


def test_bytes_beyond_ascii() -> None:
    check_bearer("Bearer " + "ключ".encode().decode("latin-1"), "ключ")
