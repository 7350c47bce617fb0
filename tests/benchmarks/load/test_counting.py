from collections import Counter
from pathlib import Path

from benchmarks.load.counting import Delivered, delivered, stored, written
from benchmarks.load.rollouts import Rollouts
from benchmarks.sides import KEY
from encoder.synthetic import synthetic_episode
from uploader import TracesClient
from uploader.receiver import ReceiverProcess

ROLLOUTS = Rollouts([synthetic_episode(1, num_nodes=2)], [0])


def test_what_is_missing_doubled_or_strange() -> None:
    found = Counter({"episode-0": 1, "episode-2": 2, "episode-7": 1})
    assert delivered(found, 4) == Delivered(episodes=2, doubled=1, strange=1)


def test_in_two_places_the_worse_counts() -> None:
    assert Delivered(5, 1, 0) & Delivered(4, 0, 2) == Delivered(4, 1, 2)


def test_a_receivers_index_is_read(tmp_path: Path) -> None:
    lines = [ROLLOUTS.episode(number).to_json() for number in range(3)]
    with ReceiverProcess(tmp_path, KEY) as receiver, TracesClient(KEY, receiver.url) as client:
        client.upload_lines(lines[:2], line_format="episode")
        assert delivered(stored(tmp_path), 3) == Delivered(2, 0, 0)
        client.upload_lines(lines[1:], line_format="episode")
    assert delivered(stored(tmp_path), 3) == Delivered(3, 1, 0)


def test_files_are_read_and_a_line_that_is_cut_off_is_none(tmp_path: Path) -> None:
    lines = [ROLLOUTS.episode(number).to_json() + b"\n" for number in range(4)]
    for step, content in enumerate([lines[0] + lines[1], lines[1], lines[2] + lines[3][:-9]]):
        folder = tmp_path / "rollouts" / f"step_{step}" / "train" / "all"
        folder.mkdir(parents=True)
        (folder / "traces.jsonl").write_bytes(content)
    assert delivered(written(tmp_path), 4) == Delivered(episodes=3, doubled=1, strange=1)
