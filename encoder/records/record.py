"""What an episode and a trace share: the ways to write one as a record."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

from pydantic.main import IncEx

from encoder import encode
from encoder.columns import FLOAT_DECIMALS
from encoder.records.counting import counted_once
from encoder.records.generic import GenericModel


class Record(GenericModel):
    """A model that is a record of its own.

    All ways of writing it take the same arguments, and round per-token floats to 4 decimals unless told otherwise.
    """

    _leaves_out_none: ClassVar[bool] = False

    def to_record(self, float_decimals: int | None = FLOAT_DECIMALS, exclude: IncEx | None = None) -> dict[str, Any]:
        """Return the record as the dict that pydantic makes of it.

        Args:
            float_decimals: the decimals that per-token floats are rounded to, by default 4; None keeps every digit.
            exclude: what to leave out, as `model_dump` takes it.
        """
        with counted_once():
            return self.model_dump(mode="json", **self.dump_options(float_decimals, exclude))

    def to_json(self, float_decimals: int | None = FLOAT_DECIMALS, exclude: IncEx | None = None) -> bytes:
        """Return the record as JSON: orjson's bytes for `to_record()`, made without stalling other threads.

        On an event loop call it in a thread (`await asyncio.to_thread(episode.to_json)`), or use `aiter_json`.

        Args:
            float_decimals: the decimals that per-token floats are rounded to, by default 4; None keeps every digit.
            exclude: what to leave out, as `model_dump` takes it.

        Raises:
            EncodeError: a value cannot be written.
        """
        return encode.to_json(self, **self.dump_options(float_decimals, exclude))

    def iter_json(self, float_decimals: int | None = FLOAT_DECIMALS, exclude: IncEx | None = None) -> Iterator[bytes]:
        """Yield the bytes of `to_json()` in pieces.

        Args:
            float_decimals: the decimals that per-token floats are rounded to, by default 4; None keeps every digit.
            exclude: what to leave out, as `model_dump` takes it.

        Raises:
            EncodeError: a value cannot be written; some pieces may have been yielded by then.
        """
        return encode.iter_json(self, **self.dump_options(float_decimals, exclude))

    def aiter_json(
        self, float_decimals: int | None = FLOAT_DECIMALS, exclude: IncEx | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the bytes of `to_json()` in pieces, giving way to the event loop.

        Args:
            float_decimals: the decimals that per-token floats are rounded to, by default 4; None keeps every digit.
            exclude: what to leave out, as `model_dump` takes it.

        Raises:
            EncodeError: a value cannot be written; some pieces may have been yielded by then.
        """
        return encode.aiter_json(self, **self.dump_options(float_decimals, exclude))

    def dump_options(self, float_decimals: int | None, exclude: IncEx | None) -> dict[str, Any]:
        """Return the arguments of `model_dump` that make the record, `mode` aside.

        Args:
            float_decimals: the decimals that per-token floats are rounded to; None keeps every digit.
            exclude: what to leave out, as `model_dump` takes it.
        """
        context = {"float_decimals": float_decimals}
        return {"exclude": exclude, "exclude_none": self._leaves_out_none, "context": context}
