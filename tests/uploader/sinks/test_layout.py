from hypothesis import given
from hypothesis import strategies as st

from uploader.models import LineFormat
from uploader.sinks.layout import StoredName, kind_folder, parse_name

DIGEST = "0123456789abcdef" * 4


def test_a_batch_is_named_by_its_lines() -> None:
    assert str(StoredName(DIGEST)) == f"{DIGEST}.jsonl.gz"
    assert str(StoredName(DIGEST, compressed=False)) == f"{DIGEST}.jsonl"
    assert kind_folder("Run/1", LineFormat.TRACE) == "%52un%2f1/trace"


@given(st.from_regex("[0-9a-f]{64}", fullmatch=True), st.booleans())
def test_a_name_says_what_it_was_made_of(digest: str, compressed: bool) -> None:
    assert parse_name(str(StoredName(digest, compressed))) == StoredName(digest, compressed)


@given(st.text())
def test_whatever_else_is_none(name: str) -> None:
    found = parse_name(name)
    assert found is None or str(found) == name


def test_names_of_others() -> None:
    for name in (f".{DIGEST}.jsonl.gz.0f0f0f0f.part", f"{DIGEST}.json", f"{DIGEST.upper()}.jsonl", f"{DIGEST}.jsonl\n"):
        assert parse_name(name) is None


@given(st.text())
def test_a_run_is_one_folder(run_id: str) -> None:
    folder, kind = kind_folder(run_id, LineFormat.EPISODE).split("/")
    assert folder not in ("", ".", "..")
    assert kind == "episode"
    assert folder.isascii()
