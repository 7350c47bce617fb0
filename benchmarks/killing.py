"""Kill a process that logs at random moments, resume in another one, and look at what the service and the disk hold.

    kills = kill(receiver.url, data_dir, spool, rounds=10)

What a `flush` confirmed must be stored, once; and whatever lies on the disk afterwards, the spool must know what it is.
"""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from benchmarks.sides import KEY
from uploader.spool.scan import scan

LONGEST_LIFE_S: Final = 1.0
"""A process lives for a random time up to this, once it logs."""
LONGEST_RESUME_S: Final = 1.2
_SHARE_OFFLINE: Final = 0.4
"""So many of the processes send nothing: all that they log is on the disk when they die."""
_SHARE_OF_KILLED_RESUMES: Final = 0.3
_SHARE_WITHOUT_RESUME: Final = 0.2
"""So often the next process that logs finds what is left, and sends it."""
_TIMEOUT_S: Final = 120.0

PROGRAM: Final = """
import random, sys
from encoder.synthetic import synthetic_episode
from uploader.config import Config
from uploader.sinks.traces import TracesSink
from uploader.worker.worker import UploadWorker

url, key, spool, prefix, seed, offline = sys.argv[1:]
chance = random.Random(int(seed))
base = [synthetic_episode(seed, target_bytes=size) for seed, size in enumerate((3_000, 40_000, 400_000, 4_000_000))]
worker = UploadWorker([TracesSink(Config(key, url))], run_id="killed", spool=spool, offline=bool(int(offline)))
print("up", flush=True)
number = 0
while True:
    for _ in range(chance.randint(1, 12)):
        name = f"{prefix}-{number}"
        (trace,) = base[min(int(chance.expovariate(1)), 3)].traces
        traces = [trace.model_copy(update={"id": name})]
        worker.submit([base[0].model_copy(update={"id": name, "traces": traces})])
        number += 1
    assert worker.flush(60)
    print(number, flush=True)
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """One process that was killed.

    Attributes:
        prefix: what its records' ids begin with.
        confirmed: how many of its records a flush confirmed.
    """

    prefix: str
    confirmed: int


@dataclass
class Kills:
    """What was found after all.

    Attributes:
        moments: the processes that were killed.
        killed_resumes: how many resuming processes were killed as well.
        stored: how often each record is stored, by its id.
        unexplained: the files that were left, and are none of the spool's or damaged.
        left: the batches that still waited for the service when resuming had nothing more to do.
    """

    moments: list[Moment] = field(default_factory=list)
    killed_resumes: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    unexplained: list[Path] = field(default_factory=list)
    left: int = 0

    @property
    def confirmed(self) -> set[str]:
        """The ids of the confirmed records."""
        return {f"{each.prefix}-{number}" for each in self.moments for number in range(each.confirmed)}

    @property
    def lost(self) -> set[str]:
        """The confirmed records that are not stored."""
        return self.confirmed - self.stored.keys()

    @property
    def doubled(self) -> set[str]:
        """The records that are stored more than once."""
        return {name for name, times in self.stored.items() if times > 1}


def kill(
    url: str,
    data_dir: Path,
    spool: Path,
    rounds: int,
    *,
    seed: int = 0,
    on_round: Callable[[int], object] = lambda number: None,
) -> Kills:
    """Do it.

    Args:
        url: where a receiver listens that takes our key.
        data_dir: where it stores.
        spool: where the killed processes keep what they did not send; it must be new.
        rounds: how many processes are killed.
        seed: what the random moments derive from.
        on_round: called with each round's number.
    """
    chance = random.Random(seed)
    kills = Kills()
    for number in range(rounds):
        on_round(number + 1)
        prefix = f"round{number}"
        kills.moments.append(Moment(prefix, _logged_and_killed(url, spool, prefix, chance)))
        if chance.random() < _SHARE_OF_KILLED_RESUMES:
            resuming = _resume(url, spool)
            time.sleep(chance.uniform(0, LONGEST_RESUME_S))
            kills.killed_resumes += resuming.poll() is None
            _end(resuming)
        if number + 1 < rounds and chance.random() < _SHARE_WITHOUT_RESUME:
            continue
        resuming = _resume(url, spool)
        output, _ = resuming.communicate(timeout=_TIMEOUT_S)
        assert resuming.returncode == 0, output.decode()
    kills.stored = _stored(data_dir)
    for report in scan(spool):
        kills.left += report.waiting.batches
        kills.unexplained += report.other_files
        kills.unexplained += [report.path] * (len(report.damaged) + len(report.unfinished) + bool(report.problem))
    return kills


def _logged_and_killed(url: str, spool: Path, prefix: str, chance: random.Random) -> int:
    """How many records a process that logs until it is killed knows to be safe."""
    seed, is_offline = chance.randrange(2**31), chance.random() < _SHARE_OFFLINE
    arguments = [url, KEY, str(spool), prefix, str(seed), str(int(is_offline))]
    process = _start([sys.executable, "-c", PROGRAM, *arguments])
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first == b"up\n", f"{first!r}: it did not start"
    time.sleep(chance.uniform(0, LONGEST_LIFE_S))
    process.send_signal(signal.SIGKILL)
    said = [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith(b"\n")]
    assert process.wait(_TIMEOUT_S) == -signal.SIGKILL, "it ended by itself"
    _close(process.stdout)
    return said[-1] if said else 0


def _resume(url: str, spool: Path) -> subprocess.Popen[bytes]:
    command = ["spool", "resume", "--spool", str(spool), "--url", url, "--api-key", KEY]
    return _start([sys.executable, "-m", "uploader", *command], stderr=subprocess.STDOUT)


def _start(command: list[str], stderr: int | None = None) -> subprocess.Popen[bytes]:
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # it finds what we find
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, env={**os.environ, **paths})


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(_TIMEOUT_S)
    _close(process.stdout)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        stream.close()


def _stored(data_dir: Path) -> Counter[str]:
    """How often each record lies in the receiver's directory."""
    stored: Counter[str] = Counter()
    for path in data_dir.glob("lines/*/*.gz"):
        stored.update(json.loads(line)["id"] for line in gzip.decompress(path.read_bytes()).splitlines())
    return stored
