"""The key, the team and the address: from arguments, the environment, then a file."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from uploader.errors import ConfigurationError, MissingAPIKeyError

DEFAULT_URL = "https://api.primeintellect.ai"
API_PATH = "/api/v1"


@dataclass(frozen=True)
class Config:
    """Whom to talk to, and as whom. The key stays out of the repr.

    Attributes:
        api_key: the bearer token; empty means that none was found.
        base_url: scheme, host and perhaps a path, without a trailing `/` or `/api/v1`.
        team_id: sent as X-Prime-Team-ID unless empty.
    """

    api_key: str = field(repr=False)
    base_url: str = DEFAULT_URL
    team_id: str = ""

    def url(self, path: str) -> str:
        """The address of an API path like `/traces`."""
        return f"{self.base_url}{API_PATH}{path}"

    def headers(self) -> dict[str, str]:
        """The headers that say who asks.

        Raises:
            MissingAPIKeyError: there is no key, so there is no request.
        """
        if not self.api_key:
            raise MissingAPIKeyError()
        headers = {"Authorization": f"Bearer {self.api_key}"}
        if self.team_id:
            headers["X-Prime-Team-ID"] = self.team_id
        return headers


def load_config(
    api_key: str | None = None,
    base_url: str | None = None,
    team_id: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    path: Path | None = None,
) -> Config:
    """Settle the settings: an argument wins, even an empty one; then the environment, then the file.

    Args:
        api_key: instead of PRIME_API_KEY and the file's `api_key`.
        base_url: instead of PRIME_TRACES_URL and the file's `traces_url`.
        team_id: instead of PRIME_TEAM_ID and the file's `team_id`.
        environ: the environment, by default the process's.
        path: the file, by default `~/.prime/config.json`; it is read only for what is still missing.

    Raises:
        ConfigurationError: a value cannot be used, or the file that should give one is broken.
    """
    environ = os.environ if environ is None else environ
    # An empty PRIME_TEAM_ID says "no team"; an empty key or address says nothing.
    key = api_key if api_key is not None else environ.get("PRIME_API_KEY") or None
    url = base_url if base_url is not None else environ.get("PRIME_TRACES_URL") or None
    team = team_id if team_id is not None else environ.get("PRIME_TEAM_ID")
    if key is None or url is None or team is None:
        stored = _read_file(path or _default_path())
        key = stored.get("api_key", "") if key is None else key
        url = (stored.get("traces_url") or DEFAULT_URL) if url is None else url
        team = stored.get("team_id", "") if team is None else team
    return Config(
        api_key=_header_value(key, "api_key"),
        base_url=_normal_url(url),
        team_id=_header_value(team, "team_id"),
    )


def _default_path() -> Path | None:
    try:
        return Path.home() / ".prime" / "config.json"
    except RuntimeError:  # no home directory can be told
        return None


def _read_file(path: Path | None) -> dict[str, str]:
    """The file's settings that are there. What is wrong is said without quoting the file: it holds the key."""
    if path is None:
        return {}
    problem, content = "", None
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as exc:
        problem = exc.strerror or type(exc).__name__
    except json.JSONDecodeError as exc:
        problem = f"it is not JSON (line {exc.lineno}, column {exc.colno})"
    except (ValueError, RecursionError):
        problem = "it is not JSON in UTF-8"
    if not problem and not isinstance(content, dict):
        problem = "it holds no JSON object"
    if problem:
        # Outside the handlers: a JSONDecodeError in the context would carry the whole file along.
        raise ConfigurationError(str(path), f"{problem}; repair or remove the file")
    return {name: _text(content, name, path) for name in ("api_key", "team_id", "traces_url")}


def _text(content: Any, name: str, path: Path) -> str:
    value = content.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigurationError(str(path), f"{name} must be a string, not {type(value).__name__}")
    return value


def _header_value(value: str, option: str) -> str:
    """A value fit for a header. One that is not would be quoted in the HTTP library's error."""
    if not isinstance(value, str):
        raise ConfigurationError(option, f"it must be a string, not {type(value).__name__}")
    value = value.strip()
    if not all("!" <= char <= "~" for char in value):
        raise ConfigurationError(option, "it holds spaces or non-ASCII characters, which no header can carry")
    return value


def _normal_url(text: str) -> str:
    """The base URL without a trailing `/` or `/api/v1`."""
    if not isinstance(text, str):
        raise ConfigurationError("base_url", f"it must be a string, not {type(text).__name__}")
    text = text.strip().rstrip("/").removesuffix(API_PATH).rstrip("/")
    problem = _url_problem(text)
    if problem:
        raise ConfigurationError("base_url", f"{problem} (argument base_url or PRIME_TRACES_URL)")
    return text


def _url_problem(text: str) -> str:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError):
        return "it is not a URL"
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65536:
        return "it must be http://host[:port] or https://host[:port]"
    if url.userinfo:  # the HTTP library would send it instead of the key
        return "it must not hold a user or a password; the key goes into PRIME_API_KEY"
    if "?" in text or "#" in text or " " in text:
        return "it must not hold a query, a fragment or a space"
    return ""
