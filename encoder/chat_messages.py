"""OpenAI-style messages, tidy or not, become the record's messages.

What a message holds that the record has no place for is kept beside it, by its place in the chat: as
`leftovers["messages[3].content[0]"] = {"cache_control": ...}`. The rules:

- A message that is no mapping is a user message: a string is its text, any other value has its JSON as text.
- Roles: `developer` is a system message, `function`, `ipython` and `observation` are tool messages, `model`, `ai` and
  `gpt` are the assistant, `human` is the user, and so is everybody else. A role that changed is a leftover.
- Content: null is an empty string, but for the assistant, whose content may be null. Parts of text and images are
  kept as parts; any other part, and any other value, becomes its JSON as text. The assistant's content has no parts:
  their texts are joined by line feeds.
- Tool calls: arguments stay the text that they are, valid JSON or not; other values become JSON. A missing id, name or
  text of arguments is an empty string. The older `function_call` is a tool call, too.
- Tool results without an id take those of the calls before, in order; calls that a later turn left unanswered are
  forgotten. Once there is none left, the id is an empty string.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from encoder.chat_values import is_storable, json_text, storable, text_of
from encoder.errors import ChatError
from encoder.records import (
    AssistantMessage,
    ContentPart,
    ImageUrl,
    ImageUrlContentPart,
    Message,
    MessageContent,
    SystemMessage,
    TextContentPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "gpt": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "observation": "tool",
}


class MessageReader:
    """Reads the messages of one chat, one after another.

    Attributes:
        leftovers: what the record's messages have no place for, by its place in the chat.
    """

    def __init__(self) -> None:
        self.leftovers: dict[str, dict[str, Any]] = {}
        self._position = -1
        self._unanswered: deque[str] = deque()
        self._answering = False

    def read(self, message: Mapping[str, Any]) -> Message:
        """Return the next message.

        Raises:
            ChatError: it holds a value that cannot be written as JSON, such as one that contains itself.
        """
        self._position += 1
        place = f"messages[{self._position}]"
        rest = dict(message)
        try:
            read = self._read(rest, place)
            self._keep(place, rest)
        except (TypeError, ValueError, RecursionError) as error:
            raise ChatError(self._position, f"it cannot be written as JSON: {error}") from error
        return read

    def _read(self, rest: dict[str, Any], place: str) -> Message:
        """Read a message, taking what it uses out of `rest`."""
        given = rest.pop("role", None)
        role = _ROLES.get(given.lower(), "user") if isinstance(given, str) else "user"
        if role != given:
            self._keep(place, {"role": given})
        content = rest.pop("content", None)
        if role == "assistant":
            return self._assistant(content, rest, place)
        if role == "tool":
            call_id = self._answered(rest.pop("tool_call_id", None))
            name = rest.pop("name") if isinstance(rest.get("name"), str) else None
            return ToolMessage(tool_call_id=call_id, content=self._content(content, place), name=name)
        cls = SystemMessage if role == "system" else UserMessage
        return cls(content=self._content(content, place))

    def _assistant(self, content: object, rest: dict[str, Any], place: str) -> AssistantMessage:
        parts = None if content is None else self._content(content, place)
        reasoning = rest.pop("reasoning_content", None)
        state = rest.get("provider_state")
        if isinstance(state, list) and all(isinstance(item, dict) for item in state) and is_storable(state):
            del rest["provider_state"]
        else:
            state = None
        return AssistantMessage(
            content=None if parts is None else _joined(parts),
            reasoning_content=None if reasoning is None else _joined(self._content(reasoning, place)),
            tool_calls=self._tool_calls(rest, place),
            provider_state=state,
        )

    # -- content

    def _content(self, content: object, place: str) -> MessageContent:
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        if isinstance(content, list | tuple):
            return [self._part(part, f"{place}.content[{index}]") for index, part in enumerate(content)]
        if isinstance(content, Mapping):
            return [self._part(content, f"{place}.content")]
        return json_text(content)

    def _part(self, part: object, place: str) -> ContentPart:
        if isinstance(part, str):
            return TextContentPart(text=part)
        if isinstance(part, Mapping):
            rest = dict(part)
            kind = rest.pop("type", None)
            value = rest.pop(kind, None) if kind in ("text", "image_url") else None
            if kind == "text" and isinstance(value, str):
                self._keep(place, rest)
                return TextContentPart(text=value)
            image = dict(value) if isinstance(value, Mapping) else {"url": value}
            url = image.pop("url", None)
            if kind == "image_url" and isinstance(url, str):
                self._keep(place, {**rest, **image})
                return ImageUrlContentPart(image_url=ImageUrl(url=url))
        return TextContentPart(text=json_text(part))

    # -- tool calls and their results

    def _tool_calls(self, rest: dict[str, Any], place: str) -> list[ToolCall] | None:
        given = rest.pop("tool_calls", None)
        older = rest.pop("function_call", None)
        if given is None and older is None:
            return None
        items = list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
        calls = [self._tool_call(item, f"{place}.tool_calls[{index}]") for index, item in enumerate(items)]
        if older is not None:
            calls.append(self._tool_call(older, f"{place}.function_call"))
        if calls and self._answering:
            self._unanswered.clear()
            self._answering = False
        self._unanswered.extend(call.id for call in calls)
        return calls

    def _tool_call(self, item: object, place: str) -> ToolCall:
        if not isinstance(item, Mapping):
            return ToolCall(id="", name="", arguments=text_of(item))
        rest = dict(item)
        kind = rest.pop("type", None)
        if kind not in (None, "function", "custom"):
            self._keep(place, {"type": kind})
        call_id, namespace = rest.pop("id", None), rest.pop("namespace", None)
        form = next((name for name in ("function", "custom") if isinstance(rest.get(name), Mapping)), None)
        inner = rest if form is None else dict(rest.pop(form))
        name = inner.pop("name", None)
        arguments = next((inner.pop(key) for key in ("arguments", "input", "args") if key in inner), None)
        self._keep(place, {**rest, **inner})
        return ToolCall(
            id=text_of(call_id),
            type="custom" if "custom" in (kind, form) else "function",
            name=text_of(name),
            namespace=None if namespace is None else text_of(namespace),
            arguments=text_of(arguments),
        )

    def _answered(self, given: object) -> str:
        """Return the id of the call that a tool message answers, `given` or the first unanswered one."""
        self._answering = True
        call_id = text_of(given)
        if call_id in self._unanswered:
            self._unanswered.remove(call_id)
        if not call_id and self._unanswered:
            call_id = self._unanswered.popleft()
        return call_id

    def _keep(self, place: str, rest: Mapping[Any, Any]) -> None:
        """Keep what has a value, of what nothing else took."""
        kept = storable({key: value for key, value in rest.items() if value is not None})
        if kept:
            self.leftovers[place] = {**self.leftovers.get(place, {}), **kept}


def _joined(content: MessageContent) -> str:
    """Return content as one text: images by their record, parts joined by line feeds."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part.text if isinstance(part, TextContentPart) else json_text(part.model_dump()) for part in content
    )
