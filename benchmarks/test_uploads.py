"""Sealing against compressors, and uploads through an in-process service against one request at a time."""

import time
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from benchmarks.measuring import Benchmark, facts, measured_s, note_stalls, probed
from benchmarks.progress import Progress
from benchmarks.settings import Settings
from encoder import Episode
from encoder.synthetic import synthetic_episode
from encoder.trials import run_trials
from uploader import TracesClient, compression
from uploader.batching import seal_lines
from uploader.testing import receipt

EPISODES = 8
EPISODE_BYTES = 8_400_000
TARGET_BATCH_BYTES = 8 * 1024 * 1024
ANSWER_S = 0.05

COMPRESSORS: dict[str, tuple[bool | int, bool]] = {
    "none": (False, True),
    "isal 1 (ours)": (True, True),
    "zlib 1": (1, False),
    "zlib 6": (6, False),
    "zlib 9": (9, False),
}
"""Each by its name: the option, and whether ISA-L is used where it can be."""

CLIENTS: dict[str, dict[str, Any]] = {
    "8 in flight, gzip 1": {"max_in_flight": 8, "compress": True},
    "1 in flight, gzip 1": {"max_in_flight": 1, "compress": True},
    "1 in flight, gzip 9": {"max_in_flight": 1, "compress": 9},
}


@pytest.fixture(scope="module")
def episodes() -> list[Episode]:
    return [synthetic_episode(seed, target_bytes=EPISODE_BYTES) for seed in range(EPISODES)]


@pytest.fixture(scope="module")
def lines(episodes: list[Episode]) -> list[bytes]:
    return [episode.to_json() + b"\n" for episode in episodes]


def _sealed_bytes(lines: Iterable[bytes], compress: bool | int) -> int:
    return sum(batch.compressed_size for batch in seal_lines(lines, compress=compress))


@pytest.mark.parametrize("compressor", list(COMPRESSORS))
@pytest.mark.benchmark(timer=time.thread_time)
def test_sealing(
    benchmark: Benchmark,
    lines: list[bytes],
    compressor: str,
    settings: Settings,
    progress: Progress,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress(f"sealing: {compressor}")
    compress, isal_allowed = COMPRESSORS[compressor]
    if not isal_allowed:
        monkeypatch.setattr(compression, "isal_zlib", None)
    some = lines if isal_allowed else lines[:2]
    sizes: list[int] = []
    benchmark.pedantic(lambda: sizes.append(_sealed_bytes(some, compress)), rounds=3, warmup_rounds=1)
    facts(
        benchmark,
        "seal",
        "sealing",
        compressor=compressor,
        bytes=sum(map(len, some)),
        compressed_bytes=sizes[-1],
        cpu_s=benchmark.stats.stats.median,
    )
    note_stalls(benchmark, run_trials(lambda: _sealed_bytes(some, compress), min(3, settings.runs)))


@pytest.mark.parametrize("client", list(CLIENTS))
@pytest.mark.benchmark(timer=measured_s)
def test_upload(
    benchmark: Benchmark,
    episodes: list[Episode],
    lines: list[bytes],
    client: str,
    settings: Settings,
    progress: Progress,
) -> None:
    service = Service()

    def upload() -> int:
        with TracesClient("key", transport=service) as traces:
            arguments = {"line_format": "episode", "target_batch_bytes": TARGET_BATCH_BYTES, **CLIENTS[client]}
            return len(traces.upload_records(episodes, **arguments))

    facts(benchmark, "upload", "uploads", client=client, bytes=sum(map(len, lines)), requests=upload())
    runs = min(3, settings.runs)
    probed(
        benchmark,
        upload,
        runs,
        min_run_s=0.0,
        on_run=lambda number: progress(f"uploading, {client}: run {number} of {runs}"),
    )


class Service(httpx.BaseTransport):
    """Takes each body whole, lets a while pass, and answers that it is stored."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.SyncByteStream)
        for _ in request.stream:
            pass
        time.sleep(ANSWER_S)
        return receipt(request.headers["idempotency-key"].removeprefix("sha256:"))
