"""Whole runs, beside the released prime-runs 0.1.4: what is stored or kept, what is lost, how long logging takes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks import contention as contended
from benchmarks.contention import contention
from benchmarks.killing import kill
from benchmarks.measuring import Benchmark, advance, facts, measured_s
from benchmarks.outage import OUTAGE_S, outage
from benchmarks.poison import EPISODES as POISONED_EPISODES
from benchmarks.poison import poisoned
from benchmarks.progress import Progress
from benchmarks.scenarios import SCENARIOS
from benchmarks.settings import Settings
from benchmarks.sides import KEY, PRIME_RUNS, SIDES, UNSTALL
from uploader.receiver import ReceiverProcess

FOLDER: Final = Path(__file__).parent


def child(name: str, *arguments: object) -> Any:
    """What a process of its own prints."""
    command = [sys.executable, "-P", str(FOLDER / name), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ).stdout)


def need(side: str) -> None:
    """Skip where a side is not installed."""
    if side == PRIME_RUNS:
        pytest.importorskip("prime_runs")


@pytest.mark.parametrize("scenario", list(SCENARIOS))
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.benchmark(timer=measured_s)
def test_logging(benchmark: Benchmark, side: str, scenario: str, settings: Settings, progress: Progress) -> None:
    """Episodes of production sizes, at a service that takes 100 ms and 100 MB/s for each request."""
    need(side)
    progress(f"logging, {scenario}: {side}")
    found: dict[str, Any] = {}

    def run() -> None:
        found.update(child("logging_child.py", side, scenario, settings.logged_episodes, settings.close_timeout_s))
        advance(found.pop("seconds"))

    benchmark.pedantic(run)
    facts(benchmark, "run", "runs", side=side, scenario=scenario, **found)


@pytest.mark.benchmark(timer=measured_s)
def test_throughput(benchmark: Benchmark, settings: Settings, progress: Progress) -> None:
    """Encoding, sealing, spooling and sending to a service that answers at once."""
    need(PRIME_RUNS)
    progress("throughput of whole runs")
    found: dict[str, Any] = {}

    def run() -> None:
        found.update(child("throughput_child.py", settings.throughput_episodes, min(3, settings.runs)))
        advance(found["bytes"] / found["mb_per_s"][UNSTALL] / 1e6)

    benchmark.pedantic(run)
    facts(benchmark, "throughput", "throughput of runs", **found)


@pytest.mark.parametrize("side", SIDES)
def test_one_rejected(benchmark: Benchmark, side: str, tmp_path: Path, progress: Progress) -> None:
    """One of 500 is not taken by a real receiver; what it then really holds is compared with what the uploader says."""
    need(side)
    progress(f"one rejected record: {side}")
    found: list[Any] = []
    with ReceiverProcess(tmp_path / "data", KEY) as receiver:
        benchmark.pedantic(lambda: found.append(poisoned(side, receiver.url, tmp_path / "spool")))
    outcome, stored = found[0].outcome, found[0].stored
    facts(
        benchmark,
        "poison",
        "one rejected record",
        side=side,
        episodes=POISONED_EPISODES,
        stored=stored,
        set_aside=outcome.set_aside,
        lost=POISONED_EPISODES - stored - outcome.spooled - outcome.set_aside,
        said_to_be_stored=outcome.stored,
        said_to_be_lost=outcome.lost,
    )


def test_kills(benchmark: Benchmark, settings: Settings, tmp_path: Path, progress: Progress) -> None:
    """SIGKILL at random moments, and what is stored once the rest was resumed."""
    found: list[Any] = []
    with ReceiverProcess(tmp_path / "data", KEY) as receiver:

        def run() -> None:
            found.append(
                kill(
                    receiver.url,
                    tmp_path / "data",
                    tmp_path / "spool",
                    settings.kills,
                    on_round=lambda number: progress(f"SIGKILL: {number} of {settings.kills}"),
                )
            )

        benchmark.pedantic(run)
    (kills,) = found
    facts(
        benchmark,
        "kills",
        "SIGKILL",
        side=UNSTALL,
        kills=settings.kills,
        killed_resumes=kills.killed_resumes,
        confirmed=len(kills.confirmed),
        stored=kills.stored.total(),
        lost=len(kills.lost),
        doubled=len(kills.doubled),
        unexplained=len(kills.unexplained) + kills.left,
    )


@pytest.mark.parametrize("side", SIDES)
def test_outage(benchmark: Benchmark, side: str, tmp_path: Path, progress: Progress) -> None:
    """Ten minutes in which every connection is refused, on a clock that passes them at once."""
    need(side)
    progress(f"an outage: {side}")
    found: list[Any] = []
    benchmark.pedantic(lambda: found.append(outage(side, tmp_path)))
    (seen,) = found
    facts(
        benchmark,
        "outage",
        "an outage of ten minutes",
        side=side,
        episodes=seen.submitted,
        outage_s=OUTAGE_S,
        stored=seen.outcome.stored,
        spooled=seen.outcome.spooled,
        lost=seen.outcome.lost,
    )


def test_contention(benchmark: Benchmark, settings: Settings, tmp_path: Path, progress: Progress) -> None:
    """Twelve producers at a real receiver that admits sixteen requests, from their first request on."""
    found: list[Any] = []
    with ReceiverProcess(
        tmp_path / "data", KEY, max_requests_in_flight=contended.SLOTS, hold_upload_s=contended.HOLD_S
    ) as receiver:

        def run() -> None:
            spool, seconds = tmp_path / "spool", settings.contended_s
            found.append(contention(receiver.url, spool, seconds, on_step=lambda step: progress(f"contention: {step}")))

        benchmark.pedantic(run)
    (seen,) = found
    facts(
        benchmark,
        "contention",
        "producers at one receiver",
        side=UNSTALL,
        producers=contended.PRODUCERS,
        slots=contended.SLOTS,
        sent_s=seen.seconds,
        stored=sum(seen.stored),
        refusals=seen.refusals,
        best_per_s=seen.best_per_s,
        goodput=seen.goodput,
        goodput_at_first=seen.goodput_at_first,
        least=seen.least,
    )
