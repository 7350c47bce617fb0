"""Turns: in the order of asking, one at a time, and never lost."""

import os
import threading
import time
from typing import Any

import orjson
import pytest
from pydantic import BaseModel, field_serializer

from encoder.encode import iter_json, to_json
from encoder.turns import TURNS, Turns


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_turns_come_in_the_order_of_asking() -> None:
    turns = Turns()
    order: list[int] = []

    def ask(number: int) -> None:
        with turns.turn():
            order.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(5)]
    with turns.turn():
        for number, thread in enumerate(threads):
            thread.start()
            wait_for(lambda number=number: len(turns._line) == number + 1)
    for thread in threads:
        thread.join()
    assert order == list(range(5))


def test_whoever_yields_goes_to_the_end() -> None:
    turns = Turns()
    order: list[str] = []

    def other() -> None:
        with turns.turn():
            order.append("other")

    thread = threading.Thread(target=other)
    with turns.turn() as turn:
        turn.let_others()  # nobody waits
        thread.start()
        wait_for(lambda: len(turns._line) == 1)
        order.append("first")
        turn.let_others()
        order.append("again")
    thread.join()
    assert order == ["first", "other", "again"]


def test_only_one_has_the_turn() -> None:
    turns = Turns()
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with turns.turn() as turn:
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1
                turn.let_others()
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert turns._holder is None
    assert not turns._line
    assert most == 1


def test_whoever_is_stuck_loses_the_turn_to_the_next_in_line() -> None:
    turns = Turns(stuck_s=0.01)
    free = threading.Event()
    order: list[str] = []

    def stuck() -> None:
        with turns.turn() as turn:
            order.append("stuck")
            free.wait(30)
            turn.let_others()
            order.append("moving again")

    def behind() -> None:
        with turns.turn():
            order.append("next")
            free.set()
            time.sleep(0.02)
            order.append("next is done")

    threads = [threading.Thread(target=stuck), threading.Thread(target=behind)]
    threads[0].start()
    wait_for(lambda: order == ["stuck"])
    threads[1].start()
    for thread in threads:
        thread.join(30)
    assert order[:2] == ["stuck", "next"]
    assert sorted(order[2:]) == ["moving again", "next is done"]
    assert turns._holder is None
    assert not turns._line


class Locking(BaseModel):
    numbers: list[int]
    text: str = "x"

    @field_serializer("text")
    def locked(self, text: str) -> str:
        with LOCK:
            return text


LOCK = threading.Lock()


def test_a_lock_of_the_user_s_is_never_waited_for_in_a_circle() -> None:
    rounds = 5
    done: list[int] = []

    def encode_inside_of_the_lock() -> None:
        for _ in range(rounds):
            with LOCK:
                done.append(len(to_json(Inner(numbers=list(range(50_000))))))

    def encode_what_takes_the_lock() -> None:
        done.extend(len(to_json(Locking(numbers=list(range(50_000))))) for _ in range(rounds))

    threads = [threading.Thread(target=encode_inside_of_the_lock), threading.Thread(target=encode_what_takes_the_lock)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(done) == 2 * rounds


class Inner(BaseModel):
    numbers: list[int]


class Nesting(BaseModel):
    text: str
    inner: Inner

    @field_serializer("inner")
    def as_text(self, inner: Inner) -> str:
        return to_json(inner).decode()


def test_a_serializer_may_encode_by_itself() -> None:
    model = Nesting(text="x", inner=Inner(numbers=[1, 2]))
    assert to_json(model) == orjson.dumps(model.model_dump(mode="json"))


def test_nobody_keeps_the_turn_while_a_piece_is_worked_on() -> None:
    pieces = iter_json(Inner(numbers=list(range(100_000))))
    next(pieces)
    assert TURNS._holder is None
    assert to_json(Inner(numbers=[1])) == b'{"numbers":[1]}'
    pieces.close()  # type: ignore[attr-defined]


def test_an_error_gives_the_turn_back() -> None:
    with pytest.raises(Exception, match="surrogates"):
        to_json(Nesting.model_construct(text="\ud800", inner=Inner(numbers=[])))
    assert TURNS._holder is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_begins_with_nobodys_turn() -> None:
    begun = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with TURNS.turn():
            begun.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait(30)
    child = os.fork()
    if not child:
        os._exit(0 if to_json(Inner(numbers=[1])) == b'{"numbers":[1]}' else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("handed_on", [False, True])
def test_whoever_is_interrupted_while_it_waits_leaves_the_line(
    handed_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns()
    first = turns.take()

    class Gate:
        """Is interrupted while it is waited for, before or after the turn was handed on."""

        def __init__(self) -> None:
            self.asked = 0

        def acquire(self, timeout: float = -1) -> bool:
            self.asked += 1
            if self.asked > 1:
                if handed_on:
                    turns.give(first)
                raise KeyboardInterrupt
            return True

        def release(self) -> None: ...

    with monkeypatch.context() as patched:
        patched.setattr(threading, "Lock", Gate)
        with pytest.raises(KeyboardInterrupt):
            turns.take()
    assert not turns.wanted
    turns.give(first)
    with turns.turn():
        assert turns.is_mine()


def test_who_waits_for_one_that_is_not_stuck_goes_on_waiting() -> None:
    looks: list[float] = []

    def clock() -> float:
        looks.append(0.0)
        return 0.0

    turns = Turns(stuck_s=0.001, clock=clock)
    taken: list[object] = []
    waiting = threading.Thread(target=lambda: taken.append(turns.take()))
    with turns.turn():
        waiting.start()
        wait_for(lambda: len(looks) > 5)
        assert not taken
    waiting.join()
    assert len(taken) == 1
