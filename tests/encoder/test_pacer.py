"""The pacer: when it gives way, told by a fake clock."""

from concurrent.futures import ThreadPoolExecutor

from encoder.pacer import BUDGET_S, Pacer, thread_pacer


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.naps_s: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    def nap(self, seconds: float) -> None:
        self.naps_s.append(seconds)
        self.now_s += 0.0005


def test_naps_only_once_the_budget_is_used_up() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    for _ in range(9):
        clock.now_s += 0.0001
        pacer.pause_if_due()
    assert clock.naps_s == []
    clock.now_s += 0.0002
    pacer.pause_if_due()
    assert len(clock.naps_s) == 1


def test_a_new_budget_begins_after_the_nap() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    clock.now_s += 0.0011
    pacer.pause_if_due()
    clock.now_s += 0.0009
    pacer.pause_if_due()
    assert len(clock.naps_s) == 1
    clock.now_s += 0.0002
    pacer.pause_if_due()
    assert len(clock.naps_s) == 2


def test_a_nap_is_a_real_one() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    clock.now_s += 1
    pacer.pause_if_due()
    assert clock.naps_s[0] > 0


def test_restart_begins_a_new_budget_for_those_who_gave_way_themselves() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    clock.now_s += 0.0015
    assert pacer.is_due()
    pacer.restart()
    assert not pacer.is_due()


def test_the_budget_leaves_room_for_a_step_within_a_millisecond() -> None:
    assert BUDGET_S + 0.00025 <= 0.001


def test_work_that_follows_at_once_shares_a_budget() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    for _ in range(8):
        pacer.come_back()
        clock.now_s += 0.0003
        pacer.pause_if_due()
        pacer.leave()
        clock.now_s += 0.00005
    assert len(clock.naps_s) == 2


def test_work_that_follows_later_has_a_budget_of_its_own() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    for _ in range(8):
        pacer.come_back()
        clock.now_s += 0.0009
        pacer.pause_if_due()
        pacer.leave()
        clock.now_s += 0.0005
    assert clock.naps_s == []


def test_work_inside_of_work_shares_its_budget() -> None:
    clock = FakeClock()
    pacer = Pacer(0.001, clock, clock.nap)
    pacer.come_back()
    clock.now_s += 0.0008
    pacer.come_back()
    clock.now_s += 0.0003
    assert pacer.pause_if_due()


def test_each_thread_has_a_pacer() -> None:
    with ThreadPoolExecutor(1) as other:
        assert other.submit(thread_pacer).result() is not thread_pacer()
    assert thread_pacer() is thread_pacer()
