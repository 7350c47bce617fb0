"""SIGKILL: whole lines are left but the last, what a flush confirmed is there, and the next process goes on behind."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.conftest import ROOT
from tests.uploader.monitors.doubles import read_lines
from tests.uploader.monitors.killed_child import CHUNK_BYTES, ROUND, episode
from uploader.monitors import FileMonitor


def killed(folder: Path, compress: str, first: int, step: int, after_s: float) -> int:
    """Run the child, kill it a little after its first confirmation; the last number that was confirmed."""
    arguments = [str(folder), compress, str(first), str(step)]
    command = [sys.executable, "-m", "tests.uploader.monitors.killed_child", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as child:
        assert child.stdout is not None
        confirmed = [int(child.stdout.readline())]
        time.sleep(after_s)
        os.kill(child.pid, signal.SIGKILL)
        confirmed += map(int, child.stdout.read().split())
    assert child.returncode == -signal.SIGKILL
    return confirmed[-1]


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL here")
@pytest.mark.parametrize("compress", ["", "gz", "zst"])
@pytest.mark.parametrize("steps", [[0, 0, 0], [0, 1, 2]], ids=["the same step", "another step"])
def test_a_killed_process_is_continued(tmp_path: Path, steps: list[int], compress: str) -> None:
    jitter = random.Random(compress)
    spans = []
    first = 0
    for step in steps[:-1]:
        spans.append((first, killed(tmp_path, compress, first, step, jitter.uniform(0, 0.1))))
        first += ROUND
    asyncio.run(go_on(tmp_path, compress or None, steps[-1]))  # what the last kill left is mended
    paths = sorted(tmp_path.glob("rollouts/step_*/train/all/*"), key=lambda path: (path.parts[-4], path.name))
    lines = [line for path in paths for line in read_lines(path)]
    assert lines.pop() == b'"mended"'
    rows = [orjson.loads(line)["number"] for line in read_lines(tmp_path / "metrics.jsonl")[:-1]]
    for start, end in spans:  # nothing is missing in between, and nothing is there twice
        of_span = [number for number in rows if start <= number < start + ROUND]
        assert of_span == list(range(start, start + len(of_span)))
        assert start + len(of_span) > end
    position = 0
    for start, end in spans:
        expected = [episode(number).to_json() for number in range(start, start + 10)]
        count = 0
        while position < len(lines) and lines[position] == expected[count % 10]:
            position, count = position + 1, count + 1
        assert start + count > end
    assert position == len(lines)


async def go_on(folder: Path, compress: Any, step: int) -> None:
    async with FileMonitor(folder, chunk_bytes=CHUNK_BYTES, compress=compress) as monitor:
        await monitor.log(b'"mended"', step)
        await monitor.log({"number": -1}, step)
