"""A real S3 API on the loopback, and what tests look up in it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import obstore
import pytest
from obstore.store import S3Store

CREDENTIALS = {"access_key_id": "key", "secret_access_key": "secret", "region": "us-east-1"}

_SERVER = """
import sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%d" % server.get_host_and_port(), flush=True)
sys.stdin.read()  # until whoever started it ends
"""


class S3:
    """A server.

    Attributes:
        url: its address.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def new_bucket(self) -> str:
        """A bucket of one's own."""
        name = f"bucket-{uuid4().hex}"
        httpx.put(f"{self.url}/{name}").raise_for_status()
        return name

    def address(self, bucket: str, prefix: str = "") -> str:
        """What users write."""
        return f"s3://{bucket}/{prefix}".rstrip("/") + f"?endpoint={quote(self.url, safe=':/')}"

    def objects(self, bucket: str) -> dict[str, bytes]:
        """Everything in a bucket."""
        store = self._store(bucket)
        found = [meta["path"] for page in obstore.list(store) for meta in page]
        return {path: bytes(obstore.get(store, path).bytes()) for path in found}

    def facts(self, bucket: str, path: str) -> tuple[Any, Any]:
        """An object's content type, and its tag, which tells how many parts it was sent in."""
        found = obstore.get(self._store(bucket), path)
        return found.attributes.get("Content-Type"), found.meta["e_tag"]

    def _store(self, bucket: str) -> S3Store:
        config: Any = {**CREDENTIALS, "endpoint": self.url}
        return S3Store(bucket, config=config, client_options={"allow_http": True})


@contextmanager
def running_s3(**environment: str) -> Iterator[S3]:
    """A server in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment or None,
    )
    assert process.stdout is not None
    try:
        yield S3(process.stdout.readline().strip())
    finally:
        process.communicate()


def use_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the environment hold what the server takes, and nothing else of stores."""
    forget_stores(monkeypatch)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(f"AWS_{name.upper()}", value)


def forget_stores(monkeypatch: Any) -> None:
    """Have the environment say nothing of stores."""
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GOOGLE_BASE_URL", "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT", "AZURE_STORAGE_ACCOUNT_NAME"):
        monkeypatch.delenv(name, raising=False)
