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
REPEATED: Final = {UNSTALL: 8, PRIME_RUNS: 1, NODE_AT_A_TIME: 1}
"""How often each logs the same episodes: the fast one would be over before it is under way."""

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
    with tempfile.TemporaryDirectory() as spool:
        for _ in range(rounds):
            for name, repeated in REPEATED.items():
                start_s = time.perf_counter()
                work(name, some * repeated, Path(spool))
                speeds[name].append(repeated * size / (time.perf_counter() - start_s) / 1e6)
    ratios = {
        name: statistics.median(ours / theirs for ours, theirs in zip(speeds[UNSTALL], other, strict=True))
        for name, other in speeds.items()
        if name != UNSTALL
    }
    medians = {name: statistics.median(each) for name, each in speeds.items()}
    print(json.dumps({"bytes": size, "mb_per_s": medians, "ratios": ratios}), flush=True)
    os._exit(0)


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
