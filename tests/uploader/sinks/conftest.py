from collections.abc import Iterator

import pytest

from tests.uploader.stores import S3, running_s3, use_credentials


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    """A real S3 API, in a process of its own."""
    with running_s3() as server:
        yield server


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    use_credentials(monkeypatch)
