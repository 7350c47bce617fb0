"""Run one case: the receiver, the network, an idle loop beside, and the process that is measured."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.load.beside import Beside
from benchmarks.load.cases import Case
from benchmarks.load.counting import Delivered, delivered, stored, written
from benchmarks.load.faults import Site, Thrower
from benchmarks.load.measurement import Measurement
from benchmarks.load.network import network
from benchmarks.load.soak import schedule
from benchmarks.load.targets import FILES
from benchmarks.sides import KEY
from uploader.receiver import ReceiverProcess

_CHILD: Final = Path(__file__).with_name("child.py")
_DATA: Final = "receiver"
_SAID_CHARS: Final = 2000


class FailedError(Exception):
    """The measured process ended without a result."""


def measure(case: Case, on_progress: Callable[[float], object]) -> Measurement:
    """Measure a case once.

    Args:
        case: which.
        on_progress: called with the share that is over.
    """
    if shutil.disk_usage(tempfile.gettempdir()).free < case.disk_bytes:
        where = f"{tempfile.gettempdir()} has no room for {case.disk_bytes / 1e9:.0f} GB: set TMPDIR to another folder"
        return Measurement(case, problem=where)
    with tempfile.TemporaryDirectory(prefix="unstall-load-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        try:
            found, beside, thrower = _run(case, folder, on_progress)
        except FailedError as error:
            return Measurement(case, problem=str(error))
        counted = _delivered(case, folder, found)
    return Measurement(
        case=case,
        found=found,
        beside=beside,
        delivered=counted.episodes,
        doubled=counted.doubled + counted.strange,
        faults=thrower.thrown if thrower else [],
        problem=thrower.problem if thrower else None,
    )


def _run(
    case: Case, folder: Path, on_progress: Callable[[float], object]
) -> tuple[dict[str, Any], dict[str, Any], Thrower | None]:
    with ExitStack() as stack:
        thrower = None
        url = ""
        if case.soak_s:
            site = stack.enter_context(Site(folder / _DATA))
            url = site.url
            thrower = Thrower(site, schedule(case.soak_s), time.monotonic)
            stack.callback(thrower.stop)
        elif case.has_receiver:
            receiver = stack.enter_context(ReceiverProcess(folder / _DATA, KEY))
            if case.is_receiver_idle:
                _give_way(receiver.pid)
            url = stack.enter_context(network(str(case.network), receiver.url))
        beside = stack.enter_context(Beside())
        soak_start_s = time.monotonic()
        found: dict[str, Any] = {}
        for said in _said_by_child(case, url, folder):
            if "ready" in said and not case.soak_s:
                beside.begin()
            elif "soak" in said and thrower is not None:
                beside.begin()
                thrower.start()
                soak_start_s = time.monotonic()
            elif "logged" in said and thrower is not None:
                thrower.stop()
            elif "done" in said:
                soaked_s = time.monotonic() - soak_start_s
                on_progress(soaked_s / case.soak_s if case.soak_s else said["done"] / case.episodes)
            found = said.get("found", found)
        return found, beside.end(), thrower


def _give_way(pid: int) -> None:
    """Let all threads of a process have only the CPU time that nobody else wants, where the system can do that."""
    tasks = Path(f"/proc/{pid}/task")  # on Linux, each thread has its own priority; those to come inherit it
    for task in [int(path.name) for path in tasks.iterdir()] if tasks.exists() else [pid]:
        if hasattr(os, "SCHED_IDLE"):
            os.sched_setscheduler(task, os.SCHED_IDLE, os.sched_param(0))
        else:
            os.setpriority(os.PRIO_PROCESS, task, 19)


def _said_by_child(case: Case, url: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What the measured process says, line by line.

    Raises:
        FailedError: it did not end well.
    """
    command = [sys.executable, "-P", str(_CHILD), json.dumps(asdict(case)), url, str(folder)]
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # it finds what we find
    with (folder / "errors").open("w+b") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, **paths})
        try:
            assert process.stdout is not None
            yield from map(json.loads, process.stdout)
            if process.wait():
                raise FailedError(f"it ended with {process.returncode}: {_end_of(errors)}")
        finally:
            process.kill()
            process.communicate()


def _end_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read()[-_SAID_CHARS:].decode(errors="replace").strip()


def _delivered(case: Case, folder: Path, found: dict[str, Any]) -> Delivered:
    """What is where it belongs; of a transport and of W&B there is only what the monitors say."""
    logged = found["episodes"]
    counted: list[Delivered] = []
    if case.has_receiver:
        counted.append(delivered(stored(folder / _DATA), logged))
    elif case.network is not None:
        counted.append(Delivered(found["outcome"]["stored"], 0, 0))
    if "file" in case.parts:
        counted.append(delivered(written(folder / FILES), logged))
    if not counted:
        return Delivered(logged - found["outcome"]["lost"], 0, 0)
    total = counted[0]
    for each in counted[1:]:
        total &= each
    return total
