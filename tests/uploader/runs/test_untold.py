from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.runs.endings import Ending, Status
from uploader.runs.untold import Note

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ROWS = st.dictionaries(TEXT, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT, max_size=4)
ENDINGS = st.builds(Ending, st.sampled_from(list(Status)), ROWS, st.none() | TEXT)


@given(TEXT, TEXT, st.sampled_from(["train", "eval"]), TEXT, ROWS | ENDINGS)
def test_a_note_is_what_its_line_says(url: str, team: str, kind: str, run_id: str, what: Any) -> None:
    is_row = isinstance(what, dict)
    note = Note(url, team, kind, run_id, what if is_row else None, None if is_row else what)
    line = orjson.dumps(note.encode())
    assert b"\n" not in line
    assert Note.decode(orjson.loads(line)) == note


WHO = {"url": "u", "team": "", "kind": "train", "run_id": "r"}


@pytest.mark.parametrize(
    "note",
    [
        None,
        [],
        "text",
        {},
        WHO,
        {**WHO, "url": 1, "metrics": {}},
        {**WHO, "metrics": [1]},
        {**WHO, "ending": {"status": "completed"}},
        {**WHO, "ending": {"status": "lost", "summary": {}, "error": None}},
        {name: value for name, value in WHO.items() if name != "run_id"} | {"metrics": {}},
    ],
)
def test_what_is_no_note(note: Any) -> None:
    with pytest.raises(ValueError, match=r"no note|not a valid Status"):
        Note.decode(note)
