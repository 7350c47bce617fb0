"""The hand-over holds a few lines, in order, and makes only the encoder wait."""

import threading

from tests.uploader.worker.doubles import TIMEOUT_S, until
from uploader.models import LineFormat
from uploader.worker.barriers import Barrier
from uploader.worker.handover import Handover, Line


def line(number: int, size: int = 10) -> Line:
    return Line(LineFormat.TRACE, [b"x" * size], size, number)


def waits_until_taken(handover: Handover, more: Line) -> bool:
    """Whether the line goes in only once another was taken."""
    put = threading.Event()

    def work() -> None:
        handover.put(more)
        put.set()

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: put.is_set() or handover._changed._waiters)  # type: ignore[attr-defined]
    waited = not put.is_set()
    handover.get(0)
    assert put.wait(TIMEOUT_S)
    thread.join()
    return waited


def test_lines_and_barriers_keep_their_order() -> None:
    handover, barrier = Handover(), Barrier()
    items = [line(1), barrier, line(2)]
    handover.put(line(1))
    handover.put_barrier(barrier)
    handover.put(line(2))
    assert [handover.get(0) for _ in range(4)] == [*items, None]
    assert handover.is_empty


def test_it_is_bounded_by_bytes() -> None:
    handover = Handover(max_bytes=25)
    handover.put(line(1))
    handover.put(line(2))
    assert waits_until_taken(handover, line(3))


def test_it_is_bounded_by_lines() -> None:
    handover = Handover(max_lines=1)
    handover.put(line(1))
    assert waits_until_taken(handover, line(2))


def test_one_line_of_any_size_goes_in() -> None:
    handover = Handover(max_bytes=25)
    handover.put(line(1, 1000))
    handover.put_barrier(Barrier())
    assert waits_until_taken(handover, line(2))
