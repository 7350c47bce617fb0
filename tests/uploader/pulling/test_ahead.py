import threading

import pytest

from uploader.pulling.ahead import read_ahead

TIMEOUT_S = 30.0


def test_results_come_in_order_and_no_more_than_a_few_are_there() -> None:
    lock = threading.Lock()
    begun: list[int] = []

    def read(number: int) -> int:
        with lock:
            begun.append(number)
        return number * number

    for taken, (number, result) in enumerate(read_ahead(read, range(50), 4)):
        assert result() == number * number
        with lock:
            assert len(begun) <= taken + 5  # those under way, and this one
    assert sorted(begun) == list(range(50))


def test_they_are_read_at_once() -> None:
    barrier = threading.Barrier(3, timeout=TIMEOUT_S)
    results = [result() for _, result in read_ahead(lambda _: barrier.wait() >= 0, range(6), 3)]
    assert results == [True] * 6


def test_an_error_comes_in_its_place() -> None:
    def read(number: int) -> int:
        if number == 1:
            raise ValueError("one")
        return number

    found = dict(read_ahead(read, range(3), 2))
    assert (found[0](), found[2]()) == (0, 2)
    with pytest.raises(ValueError, match="one"):
        found[1]()


def test_stopping_early_reads_no_more() -> None:
    begun: list[int] = []
    reading = read_ahead(begun.append, range(1000), 2)
    next(reading)[1]()
    reading.close()  # type: ignore[attr-defined]
    assert len(begun) <= 3


def test_nothing_to_read() -> None:
    assert list(read_ahead(int, [], 4)) == []
