"""Messages, their content, and the tools they call."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class TextContentPart(BaseModel):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str


class ImageUrl(BaseModel):
    """Where an image is: an address, or a `data:` URL that holds it."""

    url: str


class ImageUrlContentPart(BaseModel):
    """An image."""

    type: Literal["image_url"] = "image_url"
    image_url: ImageUrl


ContentPart = Annotated[TextContentPart | ImageUrlContentPart, Field(discriminator="type")]

MessageContent = str | list[ContentPart]


class ToolCall(BaseModel):
    """A tool call that the model asked for."""

    id: str
    type: Literal["function", "custom"] = "function"
    name: str
    namespace: str | None = None
    arguments: str
    """As the model wrote them, valid JSON or not."""


class SystemMessage(BaseModel):
    """Instructions."""

    role: Literal["system"] = "system"
    content: MessageContent


class UserMessage(BaseModel):
    """What the user says."""

    role: Literal["user"] = "user"
    content: MessageContent


class AssistantMessage(BaseModel):
    """What the model says, thinks and calls."""

    role: Literal["assistant"] = "assistant"
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    provider_state: list[dict[str, Any]] | None = None
    """The provider's own items, kept to be sent back."""


class ToolMessage(BaseModel):
    """The result of a tool call."""

    role: Literal["tool"] = "tool"
    tool_call_id: str
    content: MessageContent
    name: str | None = None


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Tool(BaseModel):
    """A tool that the model may call. Unknown keys are kept."""

    model_config = ConfigDict(extra="allow")

    type: str = "function"
    name: str
    namespace: str | None = None
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    strict: bool | None = None
