import pytest

from uploader.striking import strike_out, strike_out_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the key a/b'c is bad", "the key [key] is bad"),
        ("A/B'C", "[key]"),
        ("?x=a%2Fb%27c&y", "?x=[key]&y"),
        ("?x=a%2fb%27c", "?x=[key]"),
        ("/a/b%27c", "/[key]"),
        ("a/b", "a/b"),
    ],
)
def test_every_form_of_the_key(text: str, expected: str) -> None:
    assert strike_out(text, "a/b'c") == expected
    assert strike_out(text, "") == text


def test_errors_that_are_a_circle() -> None:
    error, other = OSError(5, "word"), UnicodeDecodeError("utf-8", b"x", 0, 1, "word")
    error.__cause__, other.__context__ = other, error
    strike_out_of(error, "word")
    assert str(error) == "[Errno 5] [key]"
    assert "word" not in str(other)
    assert error.errno == 5
