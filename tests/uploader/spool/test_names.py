import os
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uploader.models import LineFormat
from uploader.spool.names import (
    BatchName,
    Role,
    folder_names,
    is_folder_name,
    parse_file,
    quote_run,
    unquote_run,
)

ANY_TEXT = st.text(st.characters(codec=None), max_size=400)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)


@given(ANY_TEXT)
@example("")
@example("..")
@example(".")
@example("/")
@example("\0")
@example("a~2")
@example("%41")
@example("x" * 300)
@example("é" * 300)
@example("\ud800")
def test_any_run_has_a_name_that_every_file_system_takes(run_id: str) -> None:
    name = quote_run(run_id)
    assert is_folder_name(name)
    assert name.isascii()
    assert name == name.lower()
    assert 0 < len(name) <= 200
    assert not name.startswith(".")
    assert not set(name) & set('/\\\0:*?"<>| \n')


@given(st.text(max_size=60))
@example("a" + "\U00010000" * 20)
@example("\ud800")
@example("")
@example("..")
@example("a.b")
@example("Qwen3/GSM8K")
def test_a_short_name_tells_the_run(run_id: str) -> None:
    name = quote_run(run_id)
    assert "~" in name or unquote_run(name) == run_id
    assert run_id.startswith(unquote_run(f"{name}~2").removesuffix("…"))


def test_a_long_name_tells_the_beginning() -> None:
    assert unquote_run(quote_run("é" * 300)) == "é" * 20 + "…"
    assert unquote_run(f"{quote_run('x' * 300)}~2") == "x" * 120 + "…"


@given(st.lists(ANY_TEXT, min_size=2, max_size=8, unique=True))
@example(["A", "a"])
@example(["é", "e\u0301"])
@example(["x" * 300, "x" * 301])
@example(["", "%"])
@example(["a", "a~2"])
def test_runs_never_share_a_folder(run_ids: list[str]) -> None:
    names = [name.casefold() for run_id in run_ids for name in islice(folder_names(run_id), 3)]
    assert len(set(names)) == len(names)
    assert all(map(is_folder_name, names))


def test_readable_names_stay_readable() -> None:
    assert quote_run("gsm8k-run_1.5") == "gsm8k-run_1.5"
    assert quote_run("A/b") == "%41%2fb"
    assert list(islice(folder_names("run"), 3)) == ["run", "run~2", "run~3"]
    assert unquote_run("run~2") == "run"


@pytest.mark.parametrize("run_id", ["", "..", "/", "\0", "x" * 300, "漢字" * 100, "A", "a", "~", "\ud800"])
def test_the_disk_takes_it(tmp_path: Path, run_id: str) -> None:
    folder = tmp_path / f"{quote_run(run_id)}~9999"
    folder.mkdir()
    assert os.listdir(tmp_path) == [folder.name]


@given(
    st.builds(BatchName, st.integers(0, 10**17), DIGESTS, st.sampled_from(LineFormat), st.booleans()),
    st.sampled_from(Role),
)
def test_a_file_tells_its_batch(name: BatchName, role: Role) -> None:
    parsed = parse_file(name.file(role))
    assert parsed is not None
    assert parsed[0].stem == name.stem
    assert parsed[1] is role
    if role in (Role.DATA, Role.DATA_PART):
        assert parsed[0] == name


def test_what_a_batch_looks_like() -> None:
    name = BatchName(7, "ab" * 32, LineFormat.EPISODE)
    assert name.file(Role.DATA) == f"00000007-{'ab' * 32}.episode.jsonl.gz"
    assert name.file(Role.MANIFEST) == f"00000007-{'ab' * 32}.episode.json"


@pytest.mark.parametrize(
    "name", ["lock", "rejected", "x.json", "1-ab.trace.json", f"00000001-{'ab' * 32}.trace.jsonl.done", "a~b"]
)
def test_other_files_are_no_batch(name: str) -> None:
    assert parse_file(name) is None


@pytest.mark.parametrize("name", ["A", "a~", "~2", "a~x", ".git", "%4", "a b", ""])
def test_other_folders_are_no_run(name: str) -> None:
    assert not is_folder_name(name)
