"""Chats become episodes: by hand, and every real chat at hand."""

import json
import pickle
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from encoder.chats import from_messages
from encoder.errors import ChatError, EncodeError
from encoder.records import AgentConfig, AgentInfo, Episode, TaskData, TraceTask

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{"}}]},
    {"role": "tool", "content": "4"},
    {"role": "assistant", "content": "4", "logprobs": [1]},
]


def test_the_shape_of_an_episode() -> None:
    episode = from_messages(CHAT)
    (trace,) = episode.traces
    assert [node.parent for node in trace.nodes] == [None, 0, 1, 2, 3]
    assert [node.message.role for node in trace.nodes] == [message["role"] for message in CHAT]
    assert not any(node.sampled for node in trace.nodes)
    assert trace.rewards == {}
    assert trace.info == {"unmapped": {"messages[4]": {"logprobs": [1]}}}
    assert trace.is_completed
    assert trace.ok
    assert episode.ok
    assert trace.task == episode.task == TraceTask(type="Chat", data=TaskData())
    assert trace.agent == AgentInfo(config=AgentConfig())
    assert episode.to_json() == orjson.dumps(episode.to_record())


def test_an_empty_chat() -> None:
    episode = from_messages([])
    assert episode.traces[0].nodes == []
    assert Episode.model_validate_json(episode.to_json()) == episode


class MathTask(TaskData):
    answer: int = 4


def test_task_agent_and_info() -> None:
    episode = from_messages(iter(CHAT), task=MathTask(), agent="solver", info={"source": "here"})
    assert episode.task.type == "MathTask"
    assert episode.traces[0].agent.name == "solver"
    assert episode.traces[0].info["source"] == "here"
    named = from_messages(CHAT, task="sums", agent=AgentInfo(config=AgentConfig(), name="a"))
    assert named.task.data.name == "sums"
    task = TraceTask(type="T", data=TaskData(), key="k")
    assert from_messages(CHAT, task=task).task == task


@pytest.mark.parametrize("reward", [0, 1.5, -1.0, 5e-324, 1.7e308, True])
def test_rewards(reward: float) -> None:
    (trace,) = from_messages(CHAT, reward=reward).traces
    assert trace.rewards["reward"] is not None
    assert trace.rewards["reward"].score == reward
    assert trace.rewards["reward"].weight == 1.0


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), 10**400, Decimal("sNaN")])
def test_rewards_that_are_no_finite_number_are_null(reward: float) -> None:
    assert from_messages(CHAT, reward=reward).traces[0].rewards == {"reward": None}


def test_times_are_those_of_the_messages() -> None:
    stamps: list[Any] = [None, 10, True, "later", float("nan"), 12.5]
    nodes = from_messages([{"role": "user", "timestamp": stamp} for stamp in stamps]).traces[0].nodes
    assert [node.timestamp for node in nodes] == [0.0, 10.0, 10.0, 10.0, 10.0, 12.5]


def test_ids_depend_on_all_that_was_given() -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"reward": 1.0},
        {"reward": 2.0},
        {"task": "x"},
        {"agent": "x"},
        {"info": {"x": 1}},
    ]
    ids = {from_messages(CHAT, **variant).id for variant in variants} | {from_messages(CHAT[:-1]).id}
    assert len(ids) == len(variants) + 1
    episode = from_messages(CHAT)
    assert episode.id != episode.traces[0].id
    assert from_messages(CHAT).to_json() == episode.to_json()


def test_rollouts_of_one_group_have_ids_of_their_own() -> None:
    same = [from_messages(CHAT, reward=1.0) for _ in range(2)]
    assert len({episode.id for episode in same}) == 1
    group = [from_messages(CHAT, reward=1.0, id=f"step-3/rollout-{number}") for number in range(4)]
    assert [episode.id for episode in group] == [f"step-3/rollout-{number}" for number in range(4)]
    assert len({episode.traces[0].id for episode in [*group, same[0]]}) == 5
    assert {episode.id for episode in group}.isdisjoint(episode.traces[0].id for episode in group)
    for number, episode in enumerate(group):
        again = from_messages(CHAT, reward=1.0, id=f"step-3/rollout-{number}")
        assert again.to_json() == episode.to_json() == orjson.dumps(episode.to_record())


def test_an_id_changes_nothing_but_ids() -> None:
    chat = [{"role": "user", "content": "hi", "timestamp": 12.5}]
    named, plain = from_messages(chat, id="mine").to_record(), from_messages(chat).to_record()
    for record in (named, plain):
        del record["id"], record["traces"][0]["id"]
    assert named == plain
    assert named["traces"][0]["timing"]["start"] == 12.5


@pytest.mark.parametrize(("value", "text"), [(3, "an id is a text, not int"), ("", "its id is empty")])
def test_what_is_no_id(value: Any, text: str) -> None:
    with pytest.raises(ChatError, match=text):
        from_messages(CHAT, id=value)


class Message(BaseModel):
    role: str
    content: str
    refusal: str | None = None


def test_messages_may_be_models() -> None:
    episode = from_messages([Message(role="user", content="hi")])
    assert episode == from_messages([{"role": "user", "content": "hi", "refusal": None}])
    assert episode.traces[0].info == {}


@pytest.mark.parametrize(
    ("chat", "text"),
    [
        ("hello", "chat: a chat is a list of messages, not str"),
        ({"messages": CHAT}, "chat: a chat is a list of messages, not dict; pass its messages"),
        (None, "chat: a chat is a list of messages, not NoneType"),
        (b"[]", "chat: .* not bytes"),
        ([{("a", "b"): 1}], "message 0: it cannot be written as JSON"),
    ],
)
def test_what_is_no_chat(chat: Any, text: str) -> None:
    with pytest.raises(ChatError, match=text) as caught:
        from_messages(chat)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("item", "text"), [("hello", "hello"), (1, "1"), (None, "null"), (["a", {"b": 2.5}], '["a",{"b":2.5}]')]
)
def test_a_message_that_is_no_mapping_is_text_of_the_user(item: Any, text: str) -> None:
    episode = from_messages([CHAT[0], item])
    message = episode.traces[0].nodes[1].message
    assert (message.role, message.content) == ("user", text)
    assert Episode.model_validate_json(episode.to_json()) == episode


LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


class Open(BaseModel):
    content: Any


@pytest.mark.parametrize("value", [LOOP, DEEP], ids=["loop", "deep"])
@pytest.mark.parametrize("wrap", [
    lambda value: {"role": "user", "content": value}, lambda value: {"role": "user", "content": [{"x": value}]},
    lambda value: {"role": "user", "extra": value}, lambda value: {"role": value},
    lambda value: {"role": "ai", "tool_calls": value}, lambda value: {"role": "ai", "tool_calls": [{"x": value}]},
    lambda value: {"role": "tool", "tool_call_id": value}, lambda value: value, lambda value: Open(content=value),
])  # fmt: skip
def test_what_json_cannot_hold_is_refused_wherever_it_stands(wrap: Any, value: Any) -> None:
    with pytest.raises(ChatError, match="message 1: it cannot be written as JSON"):
        from_messages([CHAT[1], wrap(value)])
    with pytest.raises(ChatError, match="chat: "):
        from_messages(CHAT, info={"x": value})


@pytest.mark.parametrize("depth", [150, 180, 190, 200, 235, 254, 300])
def test_deep_values_are_kept_if_only_as_text(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    episode = from_messages(
        [{"role": "user", "extra": value}, {"role": "assistant", "provider_state": [{"x": value}]}],
        info={"mine": value},
    )
    for kept in (episode.traces[0].info["mine"], episode.traces[0].info["unmapped"]["messages[0]"]["extra"]):
        assert (json.loads(kept) if isinstance(kept, str) else kept) == value
    assert Episode.model_validate_json(episode.to_json()) == episode


def test_info_that_no_record_can_hold_is_kept_as_text() -> None:
    episode = from_messages(CHAT[:2], info={"big": 2**70, "bad": "\ud800", "fine": [1]})
    assert episode.traces[0].info == {"big": "1180591620717411303424", "bad": '"\\ud800"', "fine": [1]}
    assert Episode.model_validate_json(episode.to_json()) == episode


def test_info_and_leftovers_do_not_displace_each_other() -> None:
    (trace,) = from_messages(CHAT, info={"unmapped": "mine"}).traces
    assert trace.info == {"unmapped": {"info": {"unmapped": "mine"}, "messages[4]": {"logprobs": [1]}}}


def test_a_reward_that_is_no_number() -> None:
    with pytest.raises(ChatError, match="a reward is a number, not str"):
        from_messages(CHAT, reward="1")  # type: ignore[arg-type]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "image_url", "url", "id", "name", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)
CALLS = st.lists(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "type", "function", "custom", "name", "arguments"), JSON)),
    max_size=2,
)
OTHER_KEYS = (
    "content",
    "tool_call_id",
    "name",
    "reasoning_content",
    "function_call",
    "provider_state",
    "timestamp",
    "x",
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["system", "user", "assistant", "tool"]) | JSON,
        "tool_calls": CALLS | JSON,
        **dict.fromkeys(OTHER_KEYS, JSON),
    },
)


@given(st.lists(MESSAGES, max_size=4))
def test_any_json_is_taken(messages: list[dict[str, Any]]) -> None:
    episode = from_messages(messages)
    try:
        text = episode.to_json()
    except EncodeError:
        assert "\\ud800" in json.dumps(messages)
        return
    assert text == orjson.dumps(episode.to_record(), option=orjson.OPT_SERIALIZE_NUMPY)
    assert Episode.model_validate_json(text).to_json() == text


def check(chat: dict[str, Any]) -> None:
    episode = from_messages(chat["messages"], reward=chat["reward"], info={"source": chat["source"]})
    text = episode.to_json()
    assert text == orjson.dumps(episode.to_record(), option=orjson.OPT_SERIALIZE_NUMPY)
    assert text == from_messages(chat["messages"], reward=chat["reward"], info={"source": chat["source"]}).to_json()
    again = Episode.model_validate_json(text)
    assert again == episode
    assert again.to_json() == text
    for node, message in zip(episode.traces[0].nodes, chat["messages"], strict=True):
        check_message(node.message.model_dump(), message)


def check_message(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Nothing of a message is lost."""
    assert ours["role"] == theirs["role"]
    assert theirs["content"] is None or isinstance(theirs["content"], list) or ours["content"] == theirs["content"]
    assert theirs.get("reasoning_content") == ours.get("reasoning_content")
    for mine, theirs_call in zip(ours.get("tool_calls") or [], theirs.get("tool_calls") or [], strict=True):
        assert (mine["id"], mine["name"]) == (theirs_call["id"], theirs_call["function"]["name"])
        assert mine["arguments"] == theirs_call["function"]["arguments"]


def test_real_chats(trajectories: list[dict[str, Any]]) -> None:
    for chat in trajectories:
        check(chat)
    ids = {from_messages(chat["messages"], reward=chat["reward"]).id for chat in trajectories}
    assert len(ids) > 0.9 * len(trajectories)


def test_edge_chats(edge_chats: list[dict[str, Any]]) -> None:
    for chat in edge_chats:
        if "lone_surrogate" not in chat["edge"]:
            check(chat)
            continue
        episode = from_messages(chat["messages"], reward=chat["reward"])
        with pytest.raises(EncodeError) as caught:
            episode.to_json()
        assert caught.value.path.startswith("$.traces[0].nodes[")
