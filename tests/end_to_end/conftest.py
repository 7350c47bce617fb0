"""A receiver in its own process for each test module, once for each client."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.service import Service, running
from tests.uploader.faces import Face


@pytest.fixture(scope="module", params=["sync", "async"])
def face(request: Any) -> Face:
    return Face(request.param)


@pytest.fixture(scope="module")
def service(face: Face, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(face, tmp_path_factory.mktemp(f"receiver-{face.name}")) as service:
        yield service
