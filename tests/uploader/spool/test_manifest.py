import json
from dataclasses import replace

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from tests.uploader.spool.support import FILES, TRACES, seal
from uploader.models import LineFormat
from uploader.spool.batches import Destination
from uploader.spool.manifest import Manifest, ManifestError, NewerManifestError, decode, manifest_of

ANY_TEXT = st.text(st.characters(codec=None), max_size=20)
COUNTS = st.integers(0, 2**70)
DESTINATIONS = st.lists(st.builds(Destination, ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=3).map(tuple)
MANIFESTS = st.builds(
    Manifest,
    run_id=ANY_TEXT,
    seq=COUNTS,
    line_format=st.sampled_from(LineFormat),
    digest=ANY_TEXT,
    num_lines=st.none() | COUNTS,
    first_line_number=COUNTS,
    size=st.none() | COUNTS,
    compressed_size=COUNTS,
    content_encoding=st.sampled_from([None, "gzip"]),
    xxh3_128=st.none() | ANY_TEXT,
    created_at=st.floats(allow_nan=False),
    context=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3),
    waiting_for=DESTINATIONS,
    acknowledged_by=DESTINATIONS,
    divided_from=st.none() | COUNTS,
    reason=st.none() | ANY_TEXT,
    set_aside_at=st.none() | st.floats(allow_nan=False),
)
SEALED = seal(b"1\n", b"2\n")
MANIFEST = manifest_of(
    "run/1",
    7,
    LineFormat.EPISODE,
    SEALED,
    xxh3_128="ab" * 16,
    created_at=1.5,
    context={"a": "b"},
    waiting_for=(TRACES, FILES),
)


@given(MANIFESTS)
def test_it_comes_back(manifest: Manifest) -> None:
    assert decode(manifest.encode()) == manifest


def test_what_it_looks_like() -> None:
    content = json.loads(replace(MANIFEST, waiting_for=(FILES,), acknowledged_by=(TRACES,)).encode())
    assert content["run_id"] == "run/1"
    assert content["context"] == {"a": "b"}
    assert (content["line_format"], content["num_lines"], content["size"]) == ("episode", 2, 4)
    assert (content["compressed_size"], content["xxh3_128"]) == (SEALED.compressed_size, "ab" * 16)
    assert content["created_at"] == 1.5
    assert content["destinations"] == [
        {"sink": "files", "place": "/data/runs", "team": "", "acknowledged": False},
        {"sink": "traces", "place": "https://traces.example", "team": "team", "acknowledged": True},
    ]


def test_the_handle_and_the_names() -> None:
    spooled = MANIFEST.spooled
    assert (spooled.run_id, spooled.seq, spooled.batch, spooled.on_disk) == ("run/1", 7, SEALED.batch, True)
    assert spooled.waiting_for == (TRACES, FILES)
    assert MANIFEST.name.stem == f"00000007-{SEALED.batch.digest}.episode"
    assert replace(MANIFEST, content_encoding=None).name.compressed is False


def test_every_changed_or_missing_byte_is_seen() -> None:
    content = MANIFEST.encode()
    for index in range(len(content)):
        for damaged in (content[:index], content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :]):
            with pytest.raises(ManifestError):
                decode(damaged)
    with pytest.raises(ManifestError):
        decode(content + b" ")


def test_a_later_version_is_not_damage() -> None:
    _, _, body = MANIFEST.encode().partition(b'"check": "')
    later = body[32:].replace(b'"version": 1', b'"version": 2')
    with pytest.raises(NewerManifestError, match="version 2"):
        decode(b'{\n  "check": "' + xxhash.xxh3_128_hexdigest(later).encode() + later)
