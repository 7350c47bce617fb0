"""Where the spool is when nobody says."""

from pathlib import Path
from typing import Final

import platformdirs

from uploader.errors import ConfigurationError

_NAME: Final = "unstall"


def default_spool() -> Path:
    """The spool in the platform's folder for an application's state, like `~/.local/state/unstall/spool`.

    Raises:
        ConfigurationError: this user has no home.
    """
    path = platformdirs.user_state_path(_NAME, appauthor=False)
    if not path.is_absolute():
        raise ConfigurationError("spool", "no home directory can be told: give a folder, or None")
    return path / "spool"
