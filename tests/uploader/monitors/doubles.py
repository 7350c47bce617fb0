"""Monitors for tests: one that remembers, one that fails."""

import gzip
from pathlib import Path
from typing import Any

from encoder import Episode, from_messages
from uploader.monitors import Monitor, MonitorStats, Where
from uploader.monitors.codecs import open_zstd

CHAT = [{"role": "user", "content": "6 * 7?"}, {"role": "assistant", "content": "42"}]


def chat(number: int = 0) -> Episode[Any]:
    return from_messages(CHAT, task="arithmetic", reward=1.0, id=f"e{number}")


class Remembering(Monitor):
    """Remembers all that it is told."""

    def __init__(self, name: str = "remembering") -> None:
        self._name = name
        self.metrics: list[tuple[dict[str, Any], Where]] = []
        self.records: list[tuple[list[Any], Where]] = []
        self.calls: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    def start(self) -> None:
        self.calls.append("start")

    def take_metrics(self, values: dict[str, Any], where: Where) -> None:
        self.metrics.append((values, where))

    def take_records(self, records: list[Any], where: Where) -> None:
        self.records.append((records, where))

    async def flush(self, timeout_s: float | None = None) -> bool:
        self.calls.append("flush")
        return True

    async def finalize(self) -> None:
        self.calls.append("finalize")

    async def fail(self, error: BaseException) -> None:
        self.calls.append(f"fail {error}")

    @property
    def stats(self) -> MonitorStats:
        return MonitorStats(self.name, metrics=len(self.metrics), records=sum(len(each) for each, _ in self.records))


class Failing(Monitor):
    """Raises whatever it is asked."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def start(self) -> None:
        raise self.error

    def take_metrics(self, values: dict[str, Any], where: Where) -> None:
        raise self.error

    def take_records(self, records: list[Any], where: Where) -> None:
        raise self.error

    async def flush(self, timeout_s: float | None = None) -> bool:
        raise self.error

    async def finalize(self) -> None:
        raise self.error

    @property
    def stats(self) -> MonitorStats:
        raise self.error


def read_lines(path: Path) -> list[bytes]:
    """The lines of a file, which may be compressed."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    elif path.suffix == ".zst":
        content = open_zstd().decompress(content) if content else b""
    assert not content or content.endswith(b"\n")
    return content.split(b"\n")[:-1]
