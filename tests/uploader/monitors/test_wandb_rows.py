"""The rows of the table of episodes, alike for models and for their records."""

from collections.abc import Iterator
from typing import Any

import pytest

from encoder import AssistantMessage, Episode, Error, ImageUrl, Reward, ToolCall, UserMessage, from_messages
from encoder.records import ImageUrlContentPart, TextContentPart
from encoder.synthetic import synthetic_episode
from tests.uploader.monitors.doubles import chat
from uploader.monitors.wandb_rows import COLUMNS, row_of


def row(record: Any, max_chars: int = 1000) -> dict[str, Any]:
    pauses: list[int] = []
    cells = row_of(record, 3, max_chars, lambda: pauses.append(1))
    assert len(cells) == len(COLUMNS)
    return dict(zip(COLUMNS, cells, strict=True))


def rich() -> Episode[Any]:
    episode = synthetic_episode(1, num_nodes=4, tokens_per_node=5)
    episode.traces = [episode.traces[0], episode.traces[0].model_copy(deep=True)]
    first, second = episode.traces
    first.rewards = {"a": Reward(score=0.5), "b": Reward(score=1.0, weight=0.5), "c": None}
    second.rewards = {"a": Reward(score=0.0)}
    first.errors = [Error(type="Timeout", message="too late")]
    first.stop_condition = second.stop_condition = "done"
    return episode


def test_an_episode() -> None:
    episode = rich()
    found = row(episode)
    assert found["step"] == 3
    assert found["id"] == episode.id
    assert found["environment"] == episode.env.id
    assert found["reward"] == 0.5
    assert (found["input_tokens"], found["output_tokens"]) == (episode.num_input_tokens, episode.num_output_tokens)
    assert (found["stop"], found["error"], found["ok"]) == ("done", "Timeout: too late", episode.ok)


def test_records_and_traces_have_the_same_rows() -> None:
    episode = rich()
    found = row(episode)
    assert row(episode.to_record()) == found
    trace = episode.traces[0]
    alone = row(trace)
    assert row(trace.to_record()) == alone
    assert (alone["id"], alone["reward"], alone["output_tokens"]) == (trace.id, 1.0, trace.num_output_tokens)


def test_what_was_said() -> None:
    assert row(chat())["messages"] == "[user] 6 * 7?\n[assistant] 42"
    episode = chat()
    user, assistant = (node.message for node in episode.traces[0].nodes)
    assert isinstance(user, UserMessage)
    assert isinstance(assistant, AssistantMessage)
    picture = ImageUrlContentPart(image_url=ImageUrl(url="data:image/png;base64,AAAA"))
    user.content = [TextContentPart(text="see"), picture]
    assistant.content, assistant.reasoning_content = None, "think"
    assistant.tool_calls = [ToolCall(id="1", name="run", arguments='{"a":1}')]
    expected = '[user] see<image_url>\n[assistant] think\n\n→ run({"a":1})'
    assert row(episode)["messages"] == expected
    assert row(episode.to_record())["messages"] == expected


def test_much_text_is_cut() -> None:
    episode = from_messages([{"role": "user", "content": "x" * 10_000}], task="t")
    assert row(episode, 50)["messages"] == "[user] " + "x" * 43 + " …"
    several = chat()
    several.traces *= 2
    assert row(several)["messages"] == "[user] 6 * 7?\n[assistant] 42\n\n———\n\n[user] 6 * 7?\n[assistant] 42"
    assert row(several, 20)["messages"] == "[user] 6 * 7?\n[assis …"


class Speaking:
    def iter_json(self) -> Iterator[bytes]:
        yield b'{"a":'
        yield b'"\xc3\xa4"}'


@pytest.mark.parametrize(
    ("record", "text"), [(b'{"a":1}', '{"a":1}'), (Speaking(), '{"a":"ä"}'), ({"id": 1}, '{"id":1}')]
)
def test_of_other_records_the_beginning_is_shown(record: Any, text: str) -> None:
    found = row(record)
    assert found == {**dict.fromkeys(COLUMNS), "step": 3, "messages": text}
    assert row(record, 4)["messages"] == text[:4] + " …"


def test_records_that_lack_everything() -> None:
    assert row({"traces": []})["messages"] == ""
    found = row({"id": None, "traces": [{}], "task": {"type": "t"}, "ok": "yes"})
    assert (found["task"], found["ok"], found["reward"], found["input_tokens"]) == ("t", "yes", None, 0)
