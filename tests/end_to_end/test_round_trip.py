"""Records go through encoder, client and receiver and come back byte for byte."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from encoder import EncodeError, Episode, from_messages
from encoder.synthetic import synthetic_episode
from tests.end_to_end.service import Service, oracle
from uploader import RecordError, RecordsError


def chat_episode(chat: dict[str, Any]) -> Episode[Any]:
    info = {name: value for name, value in chat.items() if name not in ("messages", "reward") and value is not None}
    return from_messages(chat["messages"], reward=chat["reward"], info=info)


@pytest.mark.parametrize("compress", [True, False, 6])
def test_synthetic_episodes(service: Service, compress: Any) -> None:
    seed = 100 + int(compress)
    episodes = [
        synthetic_episode(seed, target_bytes=3_000_000),
        synthetic_episode(seed + 10, target_bytes=300_000, tokens_per_node=40),
        synthetic_episode(seed + 20, target_bytes=500_000, tokens_per_node=8_000),
    ]
    reported: list[Any] = []
    receipts = service.call(
        "upload_records",
        episodes,
        line_format="episode",
        compress=compress,
        context={"case": f"synthetic {seed}"},
        on_batch=lambda batch, receipt: reported.append((batch, receipt)),
    )
    expected = [episode.to_json() for episode in episodes]
    assert expected == [oracle(episode) for episode in episodes]
    whole = b"".join(line + b"\n" for line in expected)
    ((batch, receipt),) = reported
    assert receipts == [receipt]
    assert (batch.num_lines, batch.size) == (3, len(whole))
    assert receipt.upload_id == batch.digest == hashlib.sha256(whole).hexdigest()
    assert service.read_all("get_episode_raw", [episode.id for episode in episodes]) == expected

    listed = service.call("list_episodes", upload_id=receipt.upload_id).items
    assert {item.episode_id for item in listed} == {episode.id for episode in episodes}
    for episode in episodes:
        found = service.call("get_episode", episode.id)
        assert (found.traces.trace_count, found.traces.total_tokens) == (1, episode.num_total_tokens)
        (member,) = service.call("list_episode_traces", episode.id).items
        assert (member.trace_id, member.context) == (episode.traces[0].id, {"case": f"synthetic {seed}"})
        # A member's bytes are its part of the episode's line.
        assert service.call("get_raw", member.trace_id) in episode.to_json()
        nodes = service.call("list_nodes", member.trace_id, limit=5).items
        contents = [node.message.content for node in episode.traces[0].nodes[:5]]
        assert [node.message.content for node in nodes] == contents


def test_bare_traces(service: Service) -> None:
    traces = [synthetic_episode(seed, target_bytes=200_000).traces[0] for seed in range(5)]
    (receipt,) = service.call("upload_records", traces)
    assert service.read_all("get_raw", [trace.id for trace in traces]) == [oracle(trace) for trace in traces]
    assert [trace.to_json() for trace in traces] == [oracle(trace) for trace in traces]
    listed = service.call("iter", upload_id=receipt.upload_id, limit=2)
    assert sorted(item.trace_id for item in listed) == sorted(trace.id for trace in traces)
    found = service.call("get", traces[0].id)
    assert (found.upload_id, found.episode_id) == (receipt.upload_id, None)
    assert (found.total_tokens, found.size_bytes) == (traces[0].num_total_tokens, len(traces[0].to_json()))
    assert found.score.reward == sum(each.score * each.weight for each in traces[0].rewards.values() if each)


def test_downloads(service: Service, tmp_path: Path) -> None:
    episode = synthetic_episode(7, target_bytes=2_000_000)
    service.call("upload_records", [episode], line_format="episode")
    size = service.call("download_episode_raw", episode.id, tmp_path / "episode.json")
    assert (tmp_path / "episode.json").read_bytes() == oracle(episode)
    assert size == len(oracle(episode))
    service.call("download_raw", episode.traces[0].id, tmp_path / "trace.json")
    assert (tmp_path / "trace.json").read_bytes() in oracle(episode)


def test_every_real_chat(service: Service, trajectories: list[dict[str, Any]]) -> None:
    episodes = {episode.id: episode for episode in map(chat_episode, trajectories)}
    receipts = service.call(
        "upload_records", list(episodes.values()), line_format="episode", target_batch_bytes=1_000_000
    )
    assert len(receipts) > 5
    found = service.read_all("get_episode_raw", episodes)
    assert len(found) > 500
    for raw, episode in zip(found, episodes.values(), strict=True):
        assert raw == episode.to_json() == oracle(episode)
        assert Episode.model_validate_json(raw).to_json() == raw


def test_edge_chats_fail_alone_and_with_a_path(service: Service, edge_chats: list[dict[str, Any]]) -> None:
    episodes = [chat_episode(chat) for chat in edge_chats]
    broken = [index for index, chat in enumerate(edge_chats) if "lone_surrogate" in chat["edge"]]
    assert 0 < len(broken) < len(episodes)
    with pytest.raises(RecordsError) as caught:
        service.call("upload_records", episodes, line_format="episode", target_batch_bytes=100_000)
    errors = caught.value.record_errors
    assert [error.line_number - 1 for error in errors] == broken
    for error in errors:
        assert isinstance(error, RecordError)
        assert isinstance(error.__cause__, EncodeError)
        assert error.__cause__.path.startswith("$.traces[0].nodes[")
        assert error.__cause__.path in str(error)
    good = [episode for index, episode in enumerate(episodes) if index not in broken]
    assert service.read_all("get_episode_raw", [episode.id for episode in good]) == [oracle(each) for each in good]
    uploads = {receipt.upload_id for receipt in caught.value.receipts}
    listed = service.call("iter_episodes", upload_id=sorted(uploads))
    assert {item.episode_id for item in listed} == {episode.id for episode in good}


class Pieces:
    """An object that encodes itself piece by piece."""

    def __init__(self, record: Any) -> None:
        self._record = record

    def iter_json(self) -> Iterator[bytes]:
        return self._record.iter_json()  # type: ignore[no-any-return]


class Whole(Pieces):
    """An object that encodes itself at once."""

    iter_json = None  # type: ignore[assignment]

    def to_json(self) -> bytes:
        return self._record.to_json()  # type: ignore[no-any-return]


class Plain(Pieces):
    """An object that knows its record as a dict."""

    iter_json = None  # type: ignore[assignment]

    def to_record(self) -> Any:
        return self._record.to_record()


FORMS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda record: record,
    "iter_json": Pieces,
    "to_json": Whole,
    "to_record": Plain,
    "mapping": lambda record: record.to_record(),
    "bytes": lambda record: record.to_json(),
    "line": lambda record: record.to_json() + b"\n",
    "bytearray": lambda record: bytearray(record.to_json()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_record_makes_the_same_upload(service: Service, form: str) -> None:
    episodes = [synthetic_episode(seed, target_bytes=20_000) for seed in (51, 52)]
    (receipt,) = service.call("upload_records", [FORMS[form](each) for each in episodes], line_format="episode")
    lines = b"".join(oracle(episode) + b"\n" for episode in episodes)
    assert receipt.upload_id == hashlib.sha256(lines).hexdigest()
    assert service.read_all("get_episode_raw", [each.id for each in episodes]) == [oracle(each) for each in episodes]


def test_the_forms_may_be_mixed_and_make_several_batches(service: Service) -> None:
    episodes = [synthetic_episode(seed, target_bytes=30_000) for seed in range(200, 216)]
    records = [form(episode) for form, episode in zip([*FORMS.values()] * 2, episodes, strict=True)]
    reported: list[Any] = []
    receipts = service.call(
        "upload_records",
        records,
        line_format="episode",
        target_batch_bytes=100_000,
        on_batch=lambda batch, receipt: reported.append((batch.first_line_number, batch.num_lines)),
    )
    assert len(receipts) > 3
    assert reported == [(1 + sum(count for _, count in reported[:n]), reported[n][1]) for n in range(len(reported))]
    assert sum(count for _, count in reported) == len(episodes)
    assert {receipt.upload_id for receipt in receipts} <= service.stored_files()
    assert service.read_all("get_episode_raw", [each.id for each in episodes]) == [oracle(each) for each in episodes]


def test_files_and_lines_are_stored_as_they_are(service: Service, tmp_path: Path) -> None:
    """Odd white space and key order survive; a missing line end is mended where it would glue two records."""
    lines = [b'{ "id" : "file-%d", "nodes":[],"calls":[] , "version":1}' % number for number in range(3)]
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join([*lines[:2], b" \t", lines[2]]))
    (receipt,) = service.call("upload_file", path)
    assert receipt.upload_id == hashlib.sha256(b"\n".join(lines)).hexdigest()
    assert service.call("upload_lines", lines) == [receipt]
    assert service.read_all("get_raw", ["file-0", "file-1", "file-2"]) == lines
