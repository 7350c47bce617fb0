"""Monitors without the user's settings, of rank 0, with nothing registered and nothing warned of yet."""

from collections.abc import Iterator

import pytest

from tests.uploader.runs.conftest import no_settings, worker
from uploader.monitors import registry
from uploader.monitors.ranks import VARIABLES
from uploader.monitors.registry import _Registry
from uploader.runs.non_finite import NON_FINITE

__all__ = ["no_settings", "worker"]


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(registry, "_registered", _Registry())
    NON_FINITE.forget()
    yield
    NON_FINITE.forget()
