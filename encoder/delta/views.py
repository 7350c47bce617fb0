"""Look at what has arrived of a record, while it grows."""

from typing import Any

import orjson

from encoder.delta.ledger import Holder
from encoder.delta.texts import Text


class AssembledTrace:
    """A trace as far as it has arrived, or an episode's own fields; what is asked for is read when it is."""

    def __init__(self, holder: Holder) -> None:
        """Args: what has arrived of it."""
        self._holder = holder

    @property
    def id(self) -> str | None:
        """Its id; None where that is not sent."""
        found: str | None = self.get("id")
        return found

    @property
    def num_nodes(self) -> int:
        """How many nodes it has."""
        return self._holder.lengths.get("nodes", 0)

    @property
    def num_calls(self) -> int:
        """How many calls it has."""
        return self._holder.lengths.get("calls", 0)

    @property
    def pending(self) -> list[Any]:
        """The messages that no node holds yet."""
        text = self._holder.pending
        return [] if text is None else _loads(text)

    def get(self, name: str, default: Any = None) -> Any:
        """A field's value, read from its JSON; of a long list that takes its time.

        Args:
            name: the field.
            default: what it is where the record does not have it.
        """
        holder = self._holder
        if name in holder.lists:
            return [item for chunk in holder.chunks.get(name, ()) for item in _items(chunk)]
        return _loads(holder.values[name]) if name in holder.values else default

    def newest(self, name: str) -> list[Any]:
        """The last few items of a list such as `nodes`, as many as came together; none where it is empty."""
        chunks = self._holder.chunks.get(name)
        return _items(chunks[-1]) if chunks else []


def _loads(text: Text) -> Any:
    return orjson.loads(b"".join(text.pieces))


def _items(chunk: Text) -> list[Any]:
    found: list[Any] = orjson.loads(b"".join((b"[", *chunk.pieces, b"]")))
    return found
