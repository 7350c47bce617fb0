from pathlib import Path
from typing import Any

import pytest

from uploader.config import Config
from uploader.errors import ConfigurationError
from uploader.sinks.choosing import choose_sinks, is_service, needs_key, store_sink
from uploader.sinks.files import FileSink
from uploader.sinks.store import ObjectStoreSink
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination

URL = "http://service.test"
CONFIG = Config("key", URL, "team")


def test_by_default_the_service_alone() -> None:
    [sink] = choose_sinks(None, CONFIG)
    assert isinstance(sink, TracesSink)
    assert (sink.config, sink.destination) == (CONFIG, Destination("traces", URL, "team"))


def test_each_kind_of_choice(tmp_path: Path) -> None:
    own = FileSink(tmp_path / "own", name="mine")
    chosen = choose_sinks(["traces", "s3://bucket/a?region=eu", tmp_path / "b", (tmp_path / "c").as_uri(), own], CONFIG)
    assert [type(sink) for sink in chosen] == [TracesSink, ObjectStoreSink, FileSink, FileSink, FileSink]
    assert [sink.name for sink in chosen] == [
        "traces",
        "s3://bucket/a?region=eu",
        (tmp_path / "b").as_uri(),
        (tmp_path / "c").as_uri(),
        "mine",
    ]
    assert chosen[-1] is own


def test_another_service_gets_the_same_key_and_team() -> None:
    [sink] = choose_sinks(["https://other.test/api/v1/"], CONFIG)
    assert isinstance(sink, TracesSink)
    assert sink.config == Config("key", "https://other.test", "team")


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        (["https://a"], ["traces"]),
        (["traces", "http://b:8083"], ["traces", "b:8083"]),
        (["http://b:8083", "traces"], ["b:8083", "traces"]),
        (["https://a", "http://b:8083/", "http://[::1]:8083"], ["traces", "b:8083", "[::1]:8083"]),
        (["https://a/one", "https://a/two", "https://a/three"], ["traces", "a", "https://a/three"]),
        ([TracesSink(CONFIG), "https://a"], ["traces", "a"]),
        ([FileSink("/data", name="a"), "traces", "https://a"], ["a", "traces", "https://a"]),
    ],
)
def test_each_service_has_a_name_of_its_own(choices: Any, names: list[str]) -> None:
    sinks = choose_sinks(choices, CONFIG)
    assert [sink.name for sink in sinks] == names
    assert all(sink.destination.sink == sink.name for sink in sinks)


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ("s3://bucket", "must be a list"),
        (Path("/data"), "must be a list"),
        (FileSink("/data"), "must be a list"),
        ([], "there is none"),
        ([7], "must be a sink, an address or a folder, not int"),
        ([None], "not NoneType"),
        (["ftp://host"], "ftp://"),
        (["/data", "/data/"], "two have the name 'file:///data'"),
        (["traces", "traces"], "two have the name 'traces'"),
        (["traces", FileSink("/data", name="traces")], "two have the name 'traces'"),
        (["https://other.test", "https://other.test/api/v1"], "two are the service https://other.test"),
        (["traces", URL], f"two are the service {URL}"),
    ],
)
def test_choices_that_cannot_be_used(choices: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_sinks(choices, CONFIG)
    assert caught.value.option == "sinks"
    assert reason in str(caught.value)


def test_only_a_service_needs_a_key() -> None:
    keyless = Config("", URL)
    assert needs_key(choose_sinks(None, keyless))
    assert needs_key(choose_sinks(["/data", "traces"], keyless))
    assert not needs_key(choose_sinks(["/data", "s3://bucket"], keyless))
    assert not needs_key(choose_sinks(["traces"], CONFIG))


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("file:///data/a%20b", FileSink),
        ("s3://bucket/a?endpoint=http://minio:9000", ObjectStoreSink),
        ("gs://bucket", ObjectStoreSink),
        ("az://box/a?account=me", ObjectStoreSink),
    ],
)
def test_a_sink_for_what_a_spool_names(place: str, kind: type) -> None:
    destination = Destination("a name", place)
    assert not is_service(destination)
    sink = store_sink(destination)
    assert type(sink) is kind
    assert (sink.name, sink.destination) == ("a name", destination)


def test_nothing_is_sent_elsewhere_because_the_environment_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000")
    with pytest.raises(ConfigurationError, match=r"says that it is s3://bucket/a\?endpoint=http://minio:9000"):
        store_sink(Destination("s", "s3://bucket/a"))
    store_sink(Destination("s", "s3://bucket/a?endpoint=http://other:9000"))


def test_services() -> None:
    assert is_service(choose_sinks(None, CONFIG)[0].destination)
    assert is_service(Destination("mirror", "https://host"))
