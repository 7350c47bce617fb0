"""The queries of docs/stores.md give what is there: counted here the slow way, over episodes of several traces."""

import random
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx
import pytest

import uploader
from tests.conftest import ROOT
from tests.docs.markdown import fenced_blocks
from tests.uploader.stores import S3
from uploader.sinks.files import FileSink

RUNS = ("First/1", "second")


def block(package: str) -> str:
    """The page's block that uses a package to read."""
    blocks = fenced_blocks((ROOT / "docs" / "stores.md").read_text(encoding="utf-8"))
    [source] = (each.source for each in blocks if each.language == "python" and f"import {package}\n" in each.source)
    return source


def ran(source: str, **names: Any) -> Any:
    """What the block prints, as an object."""
    printed: list[Any] = []
    exec(compile(source, "docs/stores.md", "exec"), {"print": printed.append, **names})
    [result] = printed
    return result


def episode(number: int) -> dict[str, Any]:
    chance = random.Random(number)
    traces = [
        {
            "version": 1,
            "id": f"t{number}-{member}",
            "rewards": {
                "reward": {"score": round(chance.random(), 3), "weight": 1.0},
                "other": None if member else {"score": float(number), "weight": 0.0},
            },
            "nodes": [{"message": {"role": "user", "content": "x" * 100}}],
        }
        for member in range(1 + number % 3)
    ]
    return {"id": f"e{number}", "traces": traces}


def means(rewards: list[tuple[str, str, float | None]]) -> dict[tuple[str, str], tuple[int, float]]:
    """For each run and reward how many traces have it, and their mean."""
    found = defaultdict(list)
    for run, name, score in rewards:
        found[run, name].append(score)
    return {key: (len(scores), fmean(s for s in scores if s is not None)) for key, scores in found.items()}


def expected(numbers: dict[str, range]) -> dict[tuple[str, str], tuple[int, float]]:
    return means(
        [
            (run, name, reward and reward["score"])
            for run, members in numbers.items()
            for number in members
            for trace in episode(number)["traces"]
            for name, reward in trace["rewards"].items()
        ]
    )


def check(found: dict[Any, tuple[int, float]], wanted: dict[Any, tuple[int, float]]) -> None:
    assert {key: number for key, (number, _) in found.items()} == {key: number for key, (number, _) in wanted.items()}
    assert [found[key][1] for key in wanted] == pytest.approx([mean for _, mean in wanted.values()])


def log(run_id: str, numbers: range, sink: Any, spool: Path) -> None:
    with uploader.init(kind="eval", id=run_id, sinks=[sink], spool=spool) as run:
        for number in numbers:
            run.log_episodes([episode(number)])
            if number % 10 == 0:
                run.flush()
    assert run.finish().is_complete


def test_duckdb_counts_rewards_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some records stand there twice, in different batches."""
    monkeypatch.chdir(tmp_path)
    numbers = dict(zip(RUNS, (range(25), range(20, 60)), strict=True))
    for run_id, members in numbers.items():
        log(run_id, members, FileSink("rollouts"), tmp_path / "spool")
        log(run_id, members[3:9], FileSink("rollouts"), tmp_path / "spool")
    found = {(run, name): (traces, mean) for run, name, traces, mean in ran(block("duckdb")).fetchall()}
    check(found, expected(numbers))


def test_polars_counts_rewards_over_s3(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    httpx.put(f"{s3.url}/bucket").raise_for_status()
    log("First/1", range(25), f"s3://bucket/team?endpoint={s3.url}", tmp_path / "spool")
    log("First/1", range(3, 9), f"s3://bucket/team?endpoint={s3.url}", tmp_path / "spool")
    result = ran(block("polars as pl"), uploader=uploader, rollout=episode, endpoint=s3.url)
    found = {(run, "reward"): (traces, mean) for run, traces, mean in result.rows()}
    wanted = expected({"First/1": range(25), "sums-2": range(40)})
    check(found, {key: value for key, value in wanted.items() if key[1] == "reward"})
