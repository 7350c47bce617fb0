import gzip
import hashlib
import subprocess
import sys
from typing import Any

import pytest

from uploader import compression
from uploader.compression import gzip_level, open_compressor
from uploader.errors import ConfigurationError

DATA = b"".join(b'{"id":%d,"text":"some text to squeeze"}\n' % i for i in range(20_000))


def compress(data: bytes, level: int | None, chunk_bytes: int = 65_536) -> bytes:
    compressor = open_compressor(level)
    out = [compressor.add(memoryview(data)[i : i + chunk_bytes]) for i in range(0, len(data), chunk_bytes)]
    return b"".join([*out, compressor.finish()])


@pytest.mark.parametrize(("option", "level"), [(False, None), (True, 1), (0, 0), (1, 1), (3, 3), (4, 4), (9, 9)])
def test_option_gives_level(option: Any, level: int) -> None:
    assert gzip_level(option) == level


@pytest.mark.parametrize("option", [-1, 10, 1.0, "gzip", None])
def test_option_that_is_no_level_is_refused(option: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        gzip_level(option)
    assert caught.value.option == "compress"
    assert repr(option) in str(caught.value)


@pytest.mark.parametrize("isal", ["with", "without"])
@pytest.mark.parametrize("level", range(10))
def test_stream_is_gzip_without_a_time_and_reproducible(level: int, isal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if isal == "without":
        monkeypatch.setattr(compression, "isal_zlib", None)
    compressed = compress(DATA, level)
    assert gzip.decompress(compressed) == DATA
    assert len(compressed) < len(DATA) / 4
    assert compressed[4:8] == bytes(4)
    assert compressed == compress(DATA, level)


@pytest.mark.parametrize("isal", ["with", "without"])
def test_nothing_is_a_whole_stream_too(isal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if isal == "without":
        monkeypatch.setattr(compression, "isal_zlib", None)
    assert gzip.decompress(compress(b"", 1)) == b""


def test_fast_levels_are_isal_and_the_others_zlib(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    for name in ("isal_zlib", "zlib"):
        module = getattr(compression, name)
        real = module.compressobj

        def compressobj(level: int, *args: Any, name: str = name, real: Any = real) -> Any:
            opened.append((name, level))
            return real(level, *args)

        monkeypatch.setattr(module, "compressobj", compressobj)
    for level in range(10):
        open_compressor(level)
    assert opened == [("isal_zlib", n) for n in range(4)] + [("zlib", n) for n in range(4, 10)]


def test_plain_gives_back_bytes_of_its_own() -> None:
    compressor = open_compressor(None)
    buffer = bytearray(b"abc")
    out = compressor.add(memoryview(buffer))
    buffer[0] = 0
    assert (out, compressor.finish()) == (b"abc", b"")


def test_it_works_where_isal_cannot_be_imported() -> None:
    code = (
        "import sys; sys.modules['isal'] = None\n"
        "from uploader.sealing import Sealer\n"
        "sealer = Sealer(); sealer.add([b'{}\\n'], 3, 1); sealed = sealer.seal()\n"
        "import gzip; assert gzip.decompress(b''.join(sealed.pieces)) == b'{}\\n'\n"
        "print(sealed.batch.digest)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hashlib.sha256(b"{}\n").hexdigest()
