"""What can go wrong while encoding.

EncoderError
├── EncodeError   a record holds a value that cannot be written
└── ChatError     a chat cannot be turned into an episode
"""


class EncoderError(Exception):
    """The root of every error that `encoder` raises on purpose."""


class EncodeError(EncoderError):
    """A value of this record cannot be written; nothing else is affected.

    The error of pydantic or orjson, where there is one, is the `__cause__`.

    Attributes:
        path: where the value stands, like `$.traces[0].nodes[3].message.content`.
        reason: why it cannot be written.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class ChatError(EncoderError):
    """A chat cannot be turned into an episode.

    Attributes:
        position: the message's index in the chat, None when the chat itself is at fault.
        reason: what is wrong with it.
    """

    def __init__(self, position: int | None, reason: str) -> None:
        super().__init__(position, reason)
        self.position = position
        self.reason = reason

    def __str__(self) -> str:
        where = "chat" if self.position is None else f"message {self.position}"
        return f"{where}: {self.reason}"
