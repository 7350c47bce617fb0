"""A process of its own that brings episodes to a service which answers at once, in several ways, and prints the speeds.

    python benchmarks/throughput_child.py EPISODES ROUNDS

It is run as a file; installed packages win over this checkout's.
"""

import gc
import hashlib
import json
import logging
import os
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks.production import episodes, production_sizes, shared_episodes
from benchmarks.services import SimulatedService
from benchmarks.sides import KEY, PRIME_RUNS, UNSTALL, URL, new_side
from benchmarks.ways import node_at_a_time
from encoder import Episode

NODE_AT_A_TIME: Final = "node at a time"
TIMEOUT_S: Final = 3600.0
REPEATED: Final = {UNSTALL: 20, PRIME_RUNS: 1, NODE_AT_A_TIME: 1}
"""How often each logs the same episodes: the fast one takes as long as the slow ones then, a second or more."""

_GZIP_BITS: Final = 31


def main(count: int, rounds: int) -> None:
    """Measure all ways in turn, round by round, and print."""
    logging.disable(logging.WARNING)
    shared = shared_episodes()
    some = list(episodes(production_sizes(count), shared))
    size = sum(len(episode.to_json()) + 1 for episode in some)
    gc.collect()
    gc.freeze()
    speeds: dict[str, list[float]] = {name: [] for name in REPEATED}
    cpu_speeds: dict[str, list[float]] = {name: [] for name in REPEATED}
    with tempfile.TemporaryDirectory() as spool:
        for _ in range(rounds):
            for name, repeated in REPEATED.items():
                start_s, start_cpu_s = time.perf_counter(), time.process_time()
                work(name, some * repeated, Path(spool))
                megabytes = repeated * size / 1e6
                speeds[name].append(megabytes / (time.perf_counter() - start_s))
                cpu_speeds[name].append(megabytes / (time.process_time() - start_cpu_s))
    ratios = {
        name: statistics.median(ours / theirs for ours, theirs in zip(speeds[UNSTALL], other, strict=True))
        for name, other in speeds.items()
        if name != UNSTALL
    }
    found = {"bytes": size, "mb_per_s": medians(speeds), "mb_per_cpu_s": medians(cpu_speeds), "ratios": ratios}
    print(json.dumps(found), flush=True)
    os._exit(0)


def medians(values: dict[str, list[float]]) -> dict[str, float]:
    """The median of each."""
    return {name: statistics.median(each) for name, each in values.items()}


def work(name: str, some: list[Episode], spool: Path) -> None:
    """Bring episodes to the service, in one of the ways."""
    service = SimulatedService()
    if name == NODE_AT_A_TIME:
        upload(some, service, node_at_a_time)
        return
    side = new_side(name, service, spool)
    for episode in some:
        side.submit([episode])
    outcome = side.close(TIMEOUT_S)
    assert outcome.stored == len(some), outcome


def upload(some: list[Episode], service: SimulatedService, encode: Callable[[Episode], bytes]) -> None:
    """The plain way around an encoder: one thread, one episode a request, SHA-256, zlib level 1."""
    with httpx.Client(transport=service, headers={"Authorization": f"Bearer {KEY}"}) as client:
        for episode in some:
            line = encode(episode) + b"\n"
            headers = {"Idempotency-Key": f"sha256:{hashlib.sha256(line).hexdigest()}"}
            compressor = zlib.compressobj(1, wbits=_GZIP_BITS)
            body = compressor.compress(line) + compressor.flush()
            files = {"traces": ("traces.jsonl", body, "application/x-ndjson", {"Content-Encoding": "gzip"})}
            client.post(f"{URL}/api/v1/traces", headers=headers, files=files).raise_for_status()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
