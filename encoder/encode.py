"""Encode any pydantic model to JSON without holding the GIL for longer than a millisecond."""

from collections.abc import AsyncIterator, Iterator
from typing import Unpack

from pydantic import BaseModel

from encoder.arguments import DumpArguments
from encoder.pumps import pieces, pieces_on_loop, whole
from encoder.small import small_json
from encoder.splicer import splice, splice_into


def to_json(model: BaseModel, **dump_arguments: Unpack[DumpArguments]) -> bytes:
    """Encode a model to JSON, releasing the GIL every millisecond.

    Other threads go on meanwhile, the one that calls does not: on an event loop use `aiter_json`, or call this from a
    thread (`await asyncio.to_thread(to_json, model)`).

    Args:
        model: an instance of any pydantic model.
        **dump_arguments: those of `model_dump`, all but `mode`.

    Returns:
        Exactly the bytes of `orjson.dumps(model.model_dump(mode="json", **dump_arguments),
        option=orjson.OPT_SERIALIZE_NUMPY)`.

    Raises:
        EncodeError: a value cannot be written; its `path` says which.
    """
    small = None if dump_arguments else small_json(model)
    return whole(lambda out: splice_into(out, model, dict(dump_arguments))) if small is None else small


def iter_json(model: BaseModel, **dump_arguments: Unpack[DumpArguments]) -> Iterator[bytes]:
    """Encode a model to JSON piece by piece, releasing the GIL every millisecond.

    Pieces are of about 64 KB, so that memory stays small whatever the model's size.

    Args:
        model: an instance of any pydantic model.
        **dump_arguments: those of `model_dump`, all but `mode`.

    Yields:
        Pieces that concatenate to what `to_json` returns.

    Raises:
        EncodeError: a value cannot be written; its `path` says which. Pieces before it have been yielded.
    """
    return pieces(splice(model, dict(dump_arguments)))


def aiter_json(model: BaseModel, **dump_arguments: Unpack[DumpArguments]) -> AsyncIterator[bytes]:
    """Encode a model to JSON piece by piece on the event loop, giving way to it every millisecond.

    Args:
        model: an instance of any pydantic model.
        **dump_arguments: those of `model_dump`, all but `mode`.

    Yields:
        Pieces that concatenate to what `to_json` returns.

    Raises:
        EncodeError: a value cannot be written; its `path` says which. Pieces before it have been yielded.
    """
    return pieces_on_loop(splice(model, dict(dump_arguments)))
