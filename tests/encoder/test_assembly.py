"""The assembly: whatever comes in parts becomes one text, through a buffer or a join."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder import assembly
from encoder.assembly import Assembly, grown

parts_of_steps = st.lists(st.lists(st.binary(max_size=300), max_size=90), max_size=12)


def appending(made: Assembly, steps: list[list[bytes]]) -> Iterator[None]:
    for parts in steps:
        made.parts.extend(parts)
        yield


@given(parts_of_steps, st.sampled_from([0, 1, 500, 5_000, 10**9]))
def test_parts_become_one_text(steps: list[list[bytes]], large_bytes: int) -> None:
    made = Assembly(large_bytes)
    assert set(made.over(appending(made, steps))) <= {b""}
    whole = b"".join(part for parts in steps for part in parts)
    assert made.result() == whole
    assert set(made.let_go()) <= {b""}
    assert made.parts == []


def test_what_is_large_is_never_there_twice() -> None:
    made = Assembly(large_bytes=1_000_000)
    held = 0
    for _ in made.over(appending(made, [[b"x" * 50_000]] * 200)):
        held = max(held, sum(map(len, made.parts)))
    assert held < 5_000_000
    assert made.parts == []
    assert made.result() == b"x" * 10_000_000


def test_moving_into_the_buffer_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "_COPIED_AT_ONCE", 1000)
    made = Assembly(large_bytes=90_000)
    moments = sum(1 for _ in made.over(appending(made, [[b"y" * 5000] * 100])))
    assert moments >= 100


def test_many_small_parts_are_joined() -> None:
    made = Assembly()
    for _ in made.over(appending(made, [[b"z"] * 1000] * 5)):
        assert len(made.parts) <= 1000
    assert len(made.parts) <= 5
    assert made.result() == b"z" * 5000


def test_large_parts_are_left_as_they_are() -> None:
    part = b"w" * 10_000
    made = Assembly()
    for _ in made.over(appending(made, [[part] * 100])):
        pass
    assert all(kept is part for kept in made.parts)


def test_a_single_part_is_the_result() -> None:
    part = b"v" * 100
    made = Assembly()
    for _ in made.over(appending(made, [[part]])):
        pass
    assert made.result() is part


def test_nothing_is_an_empty_text() -> None:
    made = Assembly()
    assert list(made.over(iter(()))) == []
    assert made.result() == b""


def test_the_part_that_lies_highest_keeps_the_memory_below_it() -> None:
    pinned = assembly._of_thread
    parts = [bytes([number]) * 5_000 for number in range(40)]
    highest, pinned.pin = max(parts, key=id), min(parts, key=id)
    made = Assembly()
    for _ in made.over(appending(made, [parts, [bytes(assembly._MAX_PIN_BYTES + 1), b"small"]])):
        pass
    result = made.result()
    for _ in made.let_go():
        assert pinned.pin is highest
    assert result.startswith(b"".join(parts))
    del parts
    assert pinned.pin is highest


def pinned_after(part: bytes) -> bytes:
    made = Assembly()
    made.parts.append(part)
    made._pin()
    return assembly._of_thread.pin


def test_what_lies_lower_is_kept_only_if_it_lies_far_below(monkeypatch: pytest.MonkeyPatch) -> None:
    lower, higher = sorted((bytes(2_000), bytes(2_001)), key=id)
    assembly._of_thread.pin = lower
    monkeypatch.setattr(assembly, "LARGE_BYTES", id(higher) - id(lower) + 1)
    assert [pinned_after(higher) is higher, pinned_after(lower) is higher] == [True, True]
    monkeypatch.setattr(assembly, "LARGE_BYTES", id(higher) - id(lower))
    assert pinned_after(lower) is lower


@given(st.integers(1_000_000, 4_000_000_000))
def test_a_buffer_grows_to_whole_huge_pages(capacity: int) -> None:
    up_to, then = grown(capacity)
    assert up_to > capacity
    assert then >= up_to
    assert -4096 < (then + 49) % (2 << 20) - (2 << 20) <= 0  # with what is around it, the last page is used


def test_a_buffer_that_grows_holds_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "_HUGE_PAGE_BYTES", 4096)
    parts = [bytes([number % 256]) * (number % 300 + 1) for number in range(3000)]
    made = Assembly(large_bytes=1)
    for _ in made.over(appending(made, [parts[start : start + 100] for start in range(0, 3000, 100)])):
        pass
    assert made.result() == b"".join(parts)


def test_a_part_larger_than_the_buffer_finds_room() -> None:
    made = Assembly(large_bytes=1)
    parts = [b"a" * 100, b"b" * 900_000, b"c"]
    for _ in made.over(appending(made, [[part] * 70 for part in parts])):
        pass
    assert made.result() == b"".join(part * 70 for part in parts)
