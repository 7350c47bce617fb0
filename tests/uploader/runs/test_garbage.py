"""What a run leaves behind: nothing that holds itself, which a process that freezes its heap would never get back."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uploader
from encoder.synthetic import synthetic_episode
from tests.uploader.faces import KEY
from uploader.receiver import ReceiverProcess

_OURS = ("encoder", "httpcore", "httpx", "json", "uploader")


@contextmanager
def garbage() -> Iterator[list[object]]:
    """What nothing but itself leads to after the `with` block, and has been made in it."""
    found: list[object] = []
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def log_and_wait(run: uploader.Run, number: int) -> None:
    episode = synthetic_episode(number, num_nodes=3)
    run.log_episodes([episode])
    assert run.flush(30)
    deadline_s = time.monotonic() + 30
    while run.stats.counts.stored <= number and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert run.stats.counts.stored == number + 1


def test_uploads_leave_nothing_behind_that_holds_itself(tmp_path: Path) -> None:
    with ReceiverProcess(tmp_path / "data", KEY) as receiver:
        run = uploader.init(kind="eval", base_url=receiver.url, api_key=KEY, spool=tmp_path / "spool")
        log_and_wait(run, 0)
        with garbage() as found:
            for number in range(1, 6):
                log_and_wait(run, number)
        run.finish()
    kinds = {f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in found}
    assert not [kind for kind in kinds if kind.split(".")[0] in _OURS]
