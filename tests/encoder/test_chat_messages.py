"""Untidy messages: what each becomes, and what is kept beside it."""

import json
from typing import Any

import pytest

from encoder.chat_messages import MessageReader
from encoder.errors import ChatError
from encoder.records import SystemMessage, ToolMessage, UserMessage


def read(*messages: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    reader = MessageReader()
    return [reader.read(message) for message in messages], reader.leftovers


def read_one(**message: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    (one,), leftovers = read(message)
    return one.model_dump(mode="json", exclude_none=True), leftovers.get("messages[0]", {})


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("human", "user"),
        ("assistant", "assistant"),
        ("model", "assistant"),
        ("Assistant", "assistant"),
        ("tool", "tool"),
        ("function", "tool"),
        ("narrator", "user"),
        (None, "user"),
        (7, "user"),
    ],
)
def test_roles(given: Any, role: str) -> None:
    message, leftovers = read_one(role=given, content="x")
    assert message["role"] == role
    assert leftovers == ({} if given in (role, None) else {"role": given})


def test_a_message_of_nothing() -> None:
    (message,), leftovers = read({})
    assert message == UserMessage(content="")
    assert leftovers == {}


@pytest.mark.parametrize("role", ["system", "user", "tool"])
@pytest.mark.parametrize("fields", [{"content": None}, {}])
def test_null_content_is_empty(role: str, fields: dict[str, Any]) -> None:
    assert read_one(role=role, **fields)[0]["content"] == ""


def test_null_content_of_the_assistant_is_null() -> None:
    assert read_one(role="assistant", content=None)[0] == {"role": "assistant"}
    assert read_one(role="assistant")[0] == {"role": "assistant"}
    assert read_one(role="assistant", content="")[0] == {"role": "assistant", "content": ""}


TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([TEXT, IMAGE], [TEXT, IMAGE]),
        ((TEXT,), [TEXT]),
        ([], []),
        (["plain"], [{"type": "text", "text": "plain"}]),
        (TEXT, [TEXT]),
        ([{"type": "image_url", "image_url": "data:,"}], [IMAGE]),
        ([{"type": "audio", "é": [1]}], [{"type": "text", "text": '{"type":"audio","é":[1]}'}]),
        ([{"type": "text", "text": None}], [{"type": "text", "text": '{"type":"text","text":null}'}]),
        ([{"type": "image_url"}], [{"type": "text", "text": '{"type":"image_url"}'}]),
        ([{"type": []}], [{"type": "text", "text": '{"type":[]}'}]),
        ([None, 3], [{"type": "text", "text": "null"}, {"type": "text", "text": "3"}]),
        (3.5, "3.5"),
        (False, "false"),
    ],
)
def test_content(content: Any, expected: Any) -> None:
    for role in ("system", "user", "tool"):
        assert read_one(role=role, content=content)[0]["content"] == expected


def test_content_of_the_assistant_is_joined() -> None:
    message, _ = read_one(role="assistant", content=[TEXT, {"type": "refusal", "refusal": "no"}, IMAGE])
    first, second, third = message["content"].split("\n")
    assert first == "a"
    assert json.loads(second) == {"type": "refusal", "refusal": "no"}
    assert json.loads(third) == IMAGE


def test_what_parts_hold_besides_is_kept() -> None:
    parts = [{**TEXT, "cache_control": {"ttl": 5}}, {"type": "image_url", "image_url": {"url": "u", "detail": "low"}}]
    (message,), leftovers = read({"role": "user", "content": parts})
    assert message.model_dump()["content"] == [TEXT, {"type": "image_url", "image_url": {"url": "u"}}]
    assert leftovers == {
        "messages[0].content[0]": {"cache_control": {"ttl": 5}},
        "messages[0].content[1]": {"detail": "low"},
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"arguments": '{"a": '}, '{"a": '),
        ({"arguments": {"a": ["é"]}}, '{"a":["é"]}'),
        ({"arguments": None}, ""),
        ({}, ""),
        ({"arguments": 0}, "0"),
        ({"input": "raw"}, "raw"),
    ],
)
def test_arguments(given: dict[str, Any], expected: str) -> None:
    message, leftovers = read_one(role="assistant", tool_calls=[{**CALL, "function": {"name": "f", **given}}])
    assert message["tool_calls"] == [{"id": "c", "type": "function", "name": "f", "arguments": expected}]
    assert leftovers == {}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"id": "", "type": "function", "name": "", "arguments": ""}),
        ({"id": 5, "function": {"name": None}}, {"id": "5", "type": "function", "name": "", "arguments": ""}),
        ({"name": "f", "args": {}, "id": "c"}, {"id": "c", "type": "function", "name": "f", "arguments": "{}"}),
        (
            {"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}},
            {"id": "c", "type": "custom", "name": "f", "arguments": "x"},
        ),
        (
            {**CALL, "namespace": "n"},
            {"id": "c", "type": "function", "name": "f", "namespace": "n", "arguments": "{}"},
        ),
        ("f(1)", {"id": "", "type": "function", "name": "", "arguments": "f(1)"}),
    ],
)
def test_forms_of_tool_calls(given: Any, expected: dict[str, Any]) -> None:
    assert read_one(role="assistant", tool_calls=[given])[0]["tool_calls"] == [expected]


def test_one_call_without_a_list_and_the_older_form() -> None:
    assert read_one(role="assistant", tool_calls=CALL)[0]["tool_calls"][0]["id"] == "c"
    message, leftovers = read_one(role="assistant", function_call={"name": "f", "arguments": "{}"})
    assert message["tool_calls"] == [{"id": "", "type": "function", "name": "f", "arguments": "{}"}]
    assert leftovers == {}
    assert read_one(role="assistant", tool_calls=[])[0]["tool_calls"] == []


def test_what_calls_hold_besides_is_kept() -> None:
    call = {**CALL, "index": 0, "function": {"name": "f", "arguments": "{}", "strict": True}, "type": "odd"}
    _, leftovers = read({"role": "assistant", "tool_calls": [call]})
    assert leftovers == {"messages[0].tool_calls[0]": {"type": "odd", "index": 0, "strict": True}}


def test_reasoning_and_provider_state() -> None:
    message, leftovers = read_one(
        role="assistant", reasoning_content="hm", provider_state=[{"signature": "s"}], refusal=None, audio={"id": 1}
    )
    assert message == {"role": "assistant", "reasoning_content": "hm", "provider_state": [{"signature": "s"}]}
    assert leftovers == {"audio": {"id": 1}}
    message, leftovers = read_one(role="assistant", reasoning_content=[TEXT, TEXT], provider_state="x")
    assert message == {"role": "assistant", "reasoning_content": "a\na"}
    assert leftovers == {"provider_state": "x"}


def tool_ids(*messages: dict[str, Any]) -> list[str]:
    return [message.tool_call_id for message in read(*messages)[0] if isinstance(message, ToolMessage)]


def calls(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{**CALL, "id": each} for each in ids]}


def test_tool_messages_without_an_id_take_those_of_the_calls_in_order() -> None:
    tool: dict[str, Any] = {"role": "tool", "content": "r"}
    assert tool_ids(tool) == [""]
    assert tool_ids(calls("a", "b"), tool, {**tool, "tool_call_id": None}, tool) == ["a", "b", ""]
    assert tool_ids(calls("a"), calls("b"), tool, tool) == ["a", "b"]
    assert tool_ids(calls("a", "b", "c"), {**tool, "tool_call_id": "b"}, tool, tool) == ["b", "a", "c"]
    assert tool_ids(calls("a", "b"), tool, {"role": "user"}, calls("c"), tool) == ["a", "c"]
    assert tool_ids(calls("a"), {**tool, "tool_call_id": "other"}, tool) == ["other", "a"]
    assert tool_ids(calls("a"), {"role": "function", "name": "f"}) == ["a"]
    assert tool_ids({**tool, "tool_call_id": 12}) == ["12"]


def test_names_and_other_keys() -> None:
    assert read_one(role="tool", name="f")[0]["name"] == "f"
    assert read_one(role="tool", name=3)[1] == {"name": 3}
    message, leftovers = read_one(role="user", content="x", name="bob", weight=0, tool_calls=[CALL])
    assert message == {"role": "user", "content": "x"}
    assert leftovers == {"name": "bob", "weight": 0, "tool_calls": [CALL]}


def test_what_no_record_can_hold_is_kept_as_text() -> None:
    _, leftovers = read_one(role="user", big=2**70, bad={"\ud800": "\udfff"}, **{"k\ud800": 1})
    assert leftovers == {"big": "1180591620717411303424", "bad": '{"\\ud800": "\\udfff"}', "k\\ud800": 1}


def test_lone_surrogates_stay() -> None:
    (message,), _ = read({"role": "system", "content": "\ud800"})
    assert message == SystemMessage(content="\ud800")
    assert read_one(role="user", content=[{"x": "\ud800"}])[0]["content"][0]["text"] == '{"x":"\ud800"}'


def test_what_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ChatError, match="message 1: it cannot be written as JSON"):
        read({"role": "user"}, {"role": "user", "content": [loop]})
