"""Encode any pydantic model to JSON without holding the GIL for longer than a millisecond."""

from collections.abc import AsyncIterator, Iterator
from typing import Unpack

from pydantic import BaseModel

from encoder.arguments import DumpArguments
from encoder.assembly import Assembly
from encoder.gaps import watched
from encoder.loop_turns import loop_turn
from encoder.pacer import Pacer, thread_pacer
from encoder.splicer import splice, splice_into
from encoder.turns import TURNS


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
    pacer = thread_pacer()
    assembly = Assembly()
    with TURNS.turn() as turn:
        for _ in watched(assembly.over(splice_into(assembly.parts, model, dict(dump_arguments)))):
            if pacer.pause_if_due():
                turn.let_others()
    whole = assembly.result()
    for _ in watched(assembly.let_go()):
        pacer.pause_if_due()
    pacer.leave()
    return whole


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
    return _pieces(watched(splice(model, dict(dump_arguments))))


async def aiter_json(model: BaseModel, **dump_arguments: Unpack[DumpArguments]) -> AsyncIterator[bytes]:
    """Encode a model to JSON piece by piece on the event loop, giving way to it every millisecond.

    Args:
        model: an instance of any pydantic model.
        **dump_arguments: those of `model_dump`, all but `mode`.

    Yields:
        Pieces that concatenate to what `to_json` returns.

    Raises:
        EncodeError: a value cannot be written; its `path` says which. Pieces before it have been yielded.
    """
    steps = watched(splice(model, dict(dump_arguments)))
    while piece := await _next_piece_on_loop(steps):
        yield piece


async def _next_piece_on_loop(steps: Iterator[bytes]) -> bytes:
    """The next piece that is not empty; an empty one at the end."""
    async with loop_turn() as turn:
        for piece in steps:
            await turn.pause_if_due()
            if piece:
                return piece
    return b""


def _pieces(steps: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of some steps; the turn is not kept while whoever asked for a piece works on it."""
    pacer = Pacer()
    while piece := _next_piece(steps, pacer):
        yield piece


def _next_piece(steps: Iterator[bytes], pacer: Pacer) -> bytes:
    """The next piece that is not empty; an empty one at the end."""
    with TURNS.turn() as turn:
        for piece in steps:
            if pacer.pause_if_due():
                turn.let_others()
            if piece:
                return piece
    return b""
