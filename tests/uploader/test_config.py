import json
import os
import traceback
from pathlib import Path
from typing import Any

import pytest

from uploader.config import DEFAULT_URL, Config, load_config
from uploader.errors import ConfigurationError, MissingAPIKeyError

KEY = "pk-very-secret-0123456789"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"api_key": "of-file", "team_id": "file-team", "traces_url": "https://file"}))
    return path


ENVIRON = {"PRIME_API_KEY": "of-env", "PRIME_TEAM_ID": "env-team", "PRIME_TRACES_URL": "https://env"}


def test_an_argument_wins(file: Path) -> None:
    assert load_config("k", "https://x", "t", environ=ENVIRON, path=file) == Config("k", "https://x", "t")


def test_then_the_environment(file: Path) -> None:
    assert load_config(environ=ENVIRON, path=file) == Config("of-env", "https://env", "env-team")


def test_then_the_file(file: Path) -> None:
    assert load_config(environ={}, path=file) == Config("of-file", "https://file", "file-team")


def test_then_the_defaults(tmp_path: Path) -> None:
    assert load_config(environ={}, path=tmp_path / "none.json") == Config("", DEFAULT_URL, "")
    assert DEFAULT_URL == "https://api.primeintellect.ai"


def test_an_empty_argument_wins_too(file: Path) -> None:
    config = load_config("", None, "", environ=ENVIRON, path=file)
    assert (config.api_key, config.team_id) == ("", "")
    with pytest.raises(ConfigurationError, match="base_url"):
        load_config("k", "", environ=ENVIRON, path=file)


def test_an_empty_variable_says_no_team_but_not_no_key(file: Path) -> None:
    environ = {"PRIME_API_KEY": "", "PRIME_TEAM_ID": "", "PRIME_TRACES_URL": ""}
    assert load_config(environ=environ, path=file) == Config("of-file", "https://file", "")


def test_the_file_lies_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name in ENVIRON:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".prime").mkdir()
    (tmp_path / ".prime" / "config.json").write_text('{"api_key": "at-home"}')
    assert load_config().api_key == "at-home"


@pytest.mark.parametrize("suffix", ["", "/", "//", "/api/v1", "/api/v1/", "/api/v1//"])
@pytest.mark.parametrize("source", ["argument", "environment", "file"])
def test_endings_of_the_url_do_not_matter(suffix: str, source: str, tmp_path: Path) -> None:
    url = f"https://host:8083/sub{suffix}"
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"traces_url": url if source == "file" else None}))
    config = load_config(
        "k",
        url if source == "argument" else None,
        environ={"PRIME_TRACES_URL": url} if source == "environment" else {},
        path=path,
    )
    assert config.base_url == "https://host:8083/sub"
    assert config.url("/traces") == "https://host:8083/sub/api/v1/traces"


@pytest.mark.parametrize(
    "url",
    ["host", "ftp://host", "http://", "http://:80", "http://host:99999", "http://[::1", "http://a b",
     "http://h\nx", "http://h?q=1", "http://h#f", "http://user:word@h", "http://user@h", "http://h/\ud800"],
)  # fmt: skip
def test_unusable_urls(url: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url") as caught:
        load_config("k", url, "")
    assert "word" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("value", ["a b", "a\nb", "é", "a\x00", 5])
def test_values_that_no_header_can_carry_are_not_repeated(value: Any) -> None:
    for arguments in ((value, "https://h", ""), ("k", "https://h", value)):
        with pytest.raises(ConfigurationError) as caught:
            load_config(*arguments)
        assert str(value) not in str(caught.value).replace("characters", "")


def test_white_space_around_a_key_is_that_of_its_file() -> None:
    assert load_config(" k\n", "https://h", "").api_key == "k"


@pytest.mark.parametrize(
    "content",
    [f'{{"api_key": "{KEY}", }}', f'["{KEY}"]', f'"{KEY}"', f'{{"api_key": ["{KEY}"]}}', "", f'\xff{KEY}',
     f'{{"api_key": "{KEY}", "traces_url": 5}}'],
)  # fmt: skip
def test_a_broken_file_is_an_error_without_the_key(content: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"config\.json") as caught:
        load_config(environ={}, path=path)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None  # a JSONDecodeError would hold the whole file


def test_a_broken_file_does_not_matter_when_everything_is_given(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{")
    assert load_config(environ=ENVIRON, path=path).api_key == "of-env"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(file: Path) -> None:
    file.chmod(0)
    with pytest.raises(ConfigurationError, match="Permission"):
        load_config(environ={}, path=file)


def test_a_directory_instead_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        load_config(environ={}, path=tmp_path)


def test_headers() -> None:
    assert Config("k", "https://h", "t").headers() == {"Authorization": "Bearer k", "X-Prime-Team-ID": "t"}
    assert Config("k", "https://h").headers() == {"Authorization": "Bearer k"}


def test_no_key_is_said_with_what_to_do() -> None:
    with pytest.raises(MissingAPIKeyError, match="PRIME_API_KEY"):
        Config("", "https://h").headers()


def test_the_key_stays_out_of_the_repr() -> None:
    assert KEY not in repr(Config(KEY, "https://h"))
