import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import ConfigurationError
from uploader.sinks.places import PlaceKind, parse_place


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("https://host/api", PlaceKind.SERVICE, "https://host/api"),
        ("http://127.0.0.1:8083", PlaceKind.SERVICE, "http://127.0.0.1:8083"),
        ("s3://bucket", PlaceKind.STORE, "s3://bucket"),
        ("S3://Bucket/a/b/", PlaceKind.STORE, "s3://Bucket/a/b"),
        ("gs://bucket/a%20b", PlaceKind.STORE, "gs://bucket/a%20b"),
        ("az://box/a?account=me", PlaceKind.STORE, "az://box/a?account=me"),
        (
            "s3://b/p?region=eu&endpoint=http://minio:9000",
            PlaceKind.STORE,
            "s3://b/p?endpoint=http://minio:9000&region=eu",
        ),
        ("abfss://box@me.dfs.core.windows.net/a", PlaceKind.STORE, "abfss://box@me.dfs.core.windows.net/a"),
        ("file:///data/a%20b", PlaceKind.FOLDER, "file:///data/a%20b"),
        ("/data/a b", PlaceKind.FOLDER, "file:///data/a%20b"),
        ("/data/", PlaceKind.FOLDER, "file:///data"),
    ],
)
def test_addresses(text: str, kind: PlaceKind, told: str) -> None:
    place = parse_place("url", text)
    assert (place.kind, str(place)) == (kind, told)
    assert parse_place("url", told) == place


def test_a_path_is_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("out", Path("out"), "./out"):
        assert parse_place("path", path).folder == tmp_path / "out"


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_any_folder_s_address_leads_back_to_it(name: bytes) -> None:
    path = Path(os.fsdecode(b"/" + name))
    told = str(parse_place("path", path))
    assert told.isascii()
    assert parse_place("path", told).folder == path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://host/a", "ftp:// is no address that is known here"),
        ("s3:///a", "names no bucket"),
        ("s3://", "names no bucket"),
        ("s3://key:secret@bucket/a", "must not hold a user or a key"),
        ("s3://key@bucket/a", "must not hold a user or a key"),
        ("abfss://box:secret@me.dfs.core.windows.net/a", "must not hold a user or a key"),
        ("s3://bucket/a//b", "must be plain"),
        ("s3://bucket/../b", "must be plain"),
        ("s3://bucket/a#b", "must be plain"),
        ("s3://bucket?secret_access_key=secret", "secret_access_key does not belong into an address"),
        ("gs://bucket?account=me", "account does not belong"),
        ("s3://bucket?endpoint=minio:9000", "endpoint must be http://host"),
        ("s3://bucket?endpoint=http://key:secret@minio", "endpoint must be http://host"),
        ("s3://[", "no address"),
        ("file://elsewhere/data", "no folder on this machine"),
        ("file:///data?x=1", "no folder on this machine"),
        ("", "empty"),
        ("/a\0b", "NUL"),
        (7, "must be a path"),
        ("s3://bucket/\ud800", "lone surrogate"),
    ],
)
def test_what_cannot_be_used_is_told_without_its_secrets(text: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_place("url", text)
    assert reason in str(caught.value)
    assert caught.value.option == "url"
    assert "secret" not in str(caught.value).replace("secret_access_key does", "")
