"""Filters: values are parameters, never SQL."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.receiver import schema
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.filters import EPISODE_FILTERS, TRACE_FILTERS, parse_condition, parse_paging, parse_time

VALUES = {
    "reward": "0.5",
    "has": "true",
    "is": "false",
    "created": "2024-01-01T00:00:00Z",
    "run_step": "1",
    "step": "2",
}


def value_for(name: str) -> str:
    return VALUES.get(name, VALUES.get(name.split("_")[0], "any"))


@given(st.data())
def test_every_combination_is_valid_sql(data: st.DataObject) -> None:
    kind, filters = data.draw(st.sampled_from([("traces", TRACE_FILTERS), ("episodes", EPISODE_FILTERS)]))
    names = data.draw(st.lists(st.sampled_from(sorted(filters)), unique=True))
    texts = [(name, data.draw(st.text()) if value_for(name) == "any" else value_for(name)) for name in names]
    context = data.draw(
        st.lists(st.tuples(st.text().map("context.".__add__), st.text()), unique_by=lambda pair: pair[0])
    )
    condition = parse_condition([*texts, *context], filters, context=True)
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(schema.TABLES)
        query = f"SELECT * FROM {kind} JOIN uploads USING (upload) WHERE {condition.sql}"
        assert connection.execute(query, condition.values).fetchall() == []
    connection.close()
    assert condition.sql.count("?") == len(condition.values)


@given(st.text().filter(lambda name: name not in TRACE_FILTERS and not name.startswith("context.")))
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        parse_condition([(name, "x")], TRACE_FILTERS, context=True)
    assert caught.value.code == "invalid_filter"


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000001+00:00", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T01:00:00 01:00", 0),
        ("1970-01-02", 86_400_000_000),
        ("1969-12-31T23:59:59.5", -500_000),
        ("1970-01-01 00:00:01", 1_000_000),
    ],
)
def test_times(text: str, microseconds: int) -> None:
    assert parse_time(text) == microseconds


def test_paging() -> None:
    assert parse_paging([]) == (50, None)
    assert parse_paging([("limit", "100"), ("cursor", "c"), ("run_id", "r")]) == (100, "c")
    for params in ([("limit", "101")], [("limit", "")], [("cursor", "c"), ("cursor", "c")]):
        with pytest.raises(RequestRefusedError):
            parse_paging(params)
