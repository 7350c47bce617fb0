"""Run steps of work to their end, giving way every millisecond: from a thread, piece by piece, and on an event loop.

The work itself is a generator that yields wherever it is a good moment to give way; who gives way, and how, is said
here alone.
"""

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TypeVar

from encoder.assembly import Assembly
from encoder.gaps import watched
from encoder.loop_turns import loop_turn
from encoder.pacer import Pacer, thread_pacer
from encoder.turns import TURNS

T = TypeVar("T")


def whole(fill: Callable[[list[bytes]], Iterator[object]]) -> bytes:
    """Put together what some steps write.

    Args:
        fill: begins the steps that append to the list it is given; the list may be emptied whenever they yield.
    """
    pacer = thread_pacer()
    assembly = Assembly()
    with TURNS.turn() as turn:
        for _ in watched(assembly.over(fill(assembly.parts))):
            if pacer.pause_if_due():
                turn.let_others()
    result = assembly.result()
    for _ in watched(assembly.let_go()):
        pacer.pause_if_due()
    pacer.leave()
    return result


def work_off(steps: Generator[None, None, T]) -> T:
    """Run steps that write nothing, and return what they come to."""
    pacer = thread_pacer()
    result: list[T] = []
    with TURNS.turn() as turn:
        for _ in watched(_blank(steps, result)):
            if pacer.pause_if_due():
                turn.let_others()
    pacer.leave()
    return result[0]


async def work_off_on_loop(steps: Generator[None, None, T]) -> T:
    """Run steps that write nothing on the event loop, giving way to it, and return what they come to."""
    result: list[T] = []
    async with loop_turn() as turn:
        for _ in watched(_blank(steps, result)):
            await turn.pause_if_due()
    return result[0]


def _blank(steps: Generator[None, None, T], result: list[T]) -> Iterator[bytes]:
    """An empty piece for each step; the steps' value is appended to the result."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result.append(stop.value)
            return
        yield b""


def pieces(steps: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of some steps; the turn is not kept while whoever asked for a piece works on it."""
    return _pieces(watched(steps))


def _pieces(steps: Iterator[bytes]) -> Iterator[bytes]:
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


async def pieces_on_loop(steps: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces of some steps, taken on the event loop, giving way to it."""
    steps = watched(steps)
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
