"""Split text at marks: faster than `bytes.split` where they are far apart."""

from typing import Final

# Bytes between two marks from where on looking for each is worth a call of its own; `split` looks at every byte.
_FAR_APART: Final = 400


def split(text: bytes, mark: bytes, places: int) -> list[bytes]:
    """What `text.split(mark)` returns.

    Args:
        text: what is split.
        mark: one byte.
        places: how often the mark stands in the text.
    """
    if len(text) < _FAR_APART * places:
        return text.split(mark)
    parts = []
    start = 0
    for _ in range(places):
        end = text.find(mark, start)
        parts.append(text[start:end])
        start = end + 1
    parts.append(text[start:])
    return parts
