"""Where a file is continued: behind its last whole line, whatever it was cut to."""

import gzip
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.uploader.monitors.doubles import read_lines
from uploader.errors import ConfigurationError
from uploader.limits import CHUNK_BYTES, MIB
from uploader.monitors import codecs
from uploader.monitors.codecs import Codec, End, open_codec

ALL = pytest.mark.parametrize("compress", [None, "gz", "zst"])
STREAMS = pytest.mark.parametrize("compress", ["gz", "zst"])


def written(codec: Codec, line: bytes) -> bytes:
    compressor = codec.compressor()
    chunks = [compressor.add(line[start : start + CHUNK_BYTES]) for start in range(0, len(line), CHUNK_BYTES)]
    return b"".join(chunks) + compressor.finish()


def end_of(codec: Codec, content: bytes) -> End:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        path.write_bytes(content)
        return codec.end_of(path)


def ends_whole(codec: Codec, content: bytes) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        path.write_bytes(content)
        return codec.ends_whole(path)


@ALL
@settings(max_examples=30)
@given(st.data())
def test_a_file_that_was_cut_is_continued_behind_its_last_whole_line(compress: Any, data: st.DataObject) -> None:
    codec = open_codec(compress)
    texts = data.draw(st.lists(st.binary(max_size=60), max_size=5))
    lines = [written(codec, text.replace(b"\n", b" ") + b"\n") for text in texts]
    content = b"".join(lines)
    cut = data.draw(st.integers(0, len(content)))
    ends = [len(b"".join(lines[:count])) for count in range(len(lines) + 1)]
    assert end_of(codec, content[:cut]) == End(max(end for end in ends if end <= cut))
    assert ends_whole(codec, content[:cut]) == (cut in ends)


@ALL
@pytest.mark.parametrize(
    "line",
    [
        b"\0" * 3 * MIB,  # a thousandth of it, compressed
        b"a" * MIB,  # what is decompressed at once, and one byte less and more
        b"a" * (MIB - 1),
        b"a" * (MIB + 1),
        os.urandom(3 * CHUNK_BYTES),
    ],
    ids=["zeros", "a step", "a byte less", "a byte more", "random"],
)
def test_long_lines_are_read_in_steps(compress: Any, line: bytes) -> None:
    codec = open_codec(compress)
    one = written(codec, line.replace(b"\n", b" ") + b"\n")
    assert end_of(codec, one) == End(len(one))
    assert end_of(codec, one + one[:-1]) == End(len(one))
    assert end_of(codec, one * 3) == End(3 * len(one))
    assert ends_whole(codec, one * 2)
    assert not ends_whole(codec, one + one[:-1])


@STREAMS
@pytest.mark.parametrize("mark", [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"], ids=["gzip", "zstd"])
def test_what_looks_like_a_beginning_within_a_line_is_none(compress: Any, mark: bytes) -> None:
    codec = open_codec(compress)
    noise = random.Random(7).randbytes(2 * CHUNK_BYTES)  # which no codec compresses
    one = written(codec, noise.replace(b"\n", b" ") + mark + noise[:5000].replace(b"\n", b" ") + b"\n")
    assert ends_whole(codec, one)
    assert ends_whole(codec, one * 2)
    assert not ends_whole(codec, one + one[:-1])


@STREAMS
def test_what_is_damaged_is_told_from_what_is_cut(compress: Any) -> None:
    codec = open_codec(compress)
    lines = [written(codec, os.urandom(500) + b"\n") for _ in range(3)]
    first = len(lines[0])
    for position in (first + 30, first + len(lines[1]) - 1):  # within the data, and within the checksum
        damaged = bytearray(b"".join(lines))
        damaged[position] ^= 1
        assert end_of(codec, bytes(damaged)) == End(first, is_damaged=True)
    assert end_of(codec, b"a text of somebody's") == End(0, is_damaged=True)
    assert end_of(codec, lines[0] + bytes(100)) == End(first, is_damaged=True)
    assert not ends_whole(codec, b"a text of somebody's")
    assert not ends_whole(codec, lines[0] + bytes(100))


@ALL
def test_whether_a_file_ends_whole_is_seen_at_its_last_line(compress: Any) -> None:
    codec = open_codec(compress)
    assert ends_whole(codec, b"\0" * MIB + written(codec, b"{}\n"))  # what is before is not looked at


@ALL
def test_lines_are_read_by_ordinary_tools(compress: Any, tmp_path: Path) -> None:
    codec = open_codec(compress)
    path = tmp_path / f"traces.jsonl{codec.suffix}"
    path.write_bytes(written(codec, b'{"a":1}\n') + written(codec, b'{"a":2}\n'))
    assert read_lines(path) == [b'{"a":1}', b'{"a":2}']


def test_the_gzip_header_carries_no_time() -> None:
    codec = open_codec("gz")
    assert written(codec, b"{}\n") == written(codec, b"{}\n")
    assert gzip.decompress(written(codec, b"{}\n")) == b"{}\n"


@pytest.mark.parametrize("compress", ["zip", True, 1, ""])
def test_other_compressions_are_refused(compress: object) -> None:
    with pytest.raises(ConfigurationError, match="compress: it must be None, 'gz' or 'zst'"):
        open_codec(compress)


def test_without_zstd_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(codecs, "import_module", nothing)
    with pytest.raises(ConfigurationError, match=r"pip install 'unstall\[zstd\]'"):
        open_codec("zst")
