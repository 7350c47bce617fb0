from pathlib import Path

import pytest

from uploader.errors import ConfigurationError
from uploader.spool.places import default_spool


def test_it_is_in_the_platforms_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = default_spool()
    assert path.is_relative_to(tmp_path)
    assert path.parts[-2:] == ("unstall", "spool")
    assert not path.exists()


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: Path("~/.local/state/unstall"))
    with pytest.raises(ConfigurationError, match="spool"):
        default_spool()
