"""Each fault of a soak is felt, and afterwards everything is well."""

import time
from collections.abc import Iterator

import httpx
import pytest

from benchmarks.load.faults import Site, Thrower
from benchmarks.load.soak import FAULTS, Fault
from benchmarks.sides import KEY

TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("receiver")) as site:
        yield site


def ask(site: Site, timeout_s: float = TIMEOUT_S) -> int | str:
    """The status of an answer, or what went wrong."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Length": "0"}
    try:
        return httpx.get(f"{site.url}/api/v1/traces", headers=headers, timeout=timeout_s).status_code
    except httpx.HTTPError as error:
        return type(error).__name__


@pytest.mark.parametrize(
    ("name", "felt"),
    [
        ("refuse", {"ConnectError"}),
        ("reset", {"ReadError", "WriteError", "RemoteProtocolError", "ConnectError"}),
        ("429", {429}),
        ("503", {503}),
        ("stall", {"ReadTimeout"}),
        ("kill", {"RemoteProtocolError", "ReadError", "ConnectError"}),
        ("silence", {"ReadTimeout"}),
    ],
)
def test_each_is_felt_and_passes(site: Site, name: str, felt: set[int | str]) -> None:
    seen: list[int | str] = []
    site.throw(name, lambda: seen.append(ask(site, 0.5)))
    if not seen:  # it concerns the next connections
        seen.append(ask(site, 0.5 if name == "silence" else TIMEOUT_S))
    assert set(seen) <= felt
    site.recover()
    assert ask(site) == 200


def test_all_of_them_are_thrown_at_their_times(site: Site) -> None:
    thrower = Thrower(site, [Fault(name, 0.0, 0.01) for name in FAULTS], time.monotonic)
    thrower.start()
    deadline_s = time.monotonic() + TIMEOUT_S
    while len(thrower.thrown) < len(FAULTS) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    thrower.stop()
    assert [name for name, _ in thrower.thrown] == list(FAULTS)
    assert thrower.problem is None
    assert ask(site) == 200


def test_what_is_not_due_is_not_thrown_once_it_was_stopped(site: Site) -> None:
    thrower = Thrower(site, [Fault("kill", 3600.0, 1.0)], time.monotonic)
    thrower.start()
    thrower.stop()
    assert thrower.thrown == []


def test_who_cannot_go_on_says_so(site: Site) -> None:
    class Broken(Site):
        def __init__(self) -> None: ...

        def throw(self, name: str, wait: object) -> None:
            raise OSError("no port")

        def recover(self) -> None: ...

    thrower = Thrower(Broken(), [Fault("kill", 0.0, 1.0)], time.monotonic)
    thrower.start()
    thrower._thread.join(TIMEOUT_S)
    thrower.stop()
    assert thrower.problem == "no more faults were thrown in: OSError: no port"
