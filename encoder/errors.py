"""What can go wrong while encoding.

EncoderError
├── EncodeError                  a record holds a value that cannot be written
├── ChatError                    a chat cannot be turned into an episode
└── DeltaError                   a stream of deltas cannot go on as it was asked to
    ├── DeltaStateError          what was asked for is not possible now
    ├── DeltaVersionError        the delta is of a version that is not known here
    ├── ForeignDeltaError        the delta belongs to another stream
    ├── LostDeltaError           a delta before this one has not arrived
    ├── MalformedDeltaError      the bytes are no delta, or say what cannot be
    └── DamagedRecordError       all deltas have arrived, and the record is not the one that was sent
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


class DeltaError(EncoderError):
    """A stream of deltas cannot go on as it was asked to. What was put together before is as it was."""


class DeltaStateError(DeltaError):
    """What was asked for is not possible now.

    Attributes:
        reason: why not, and what is to be done.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DeltaVersionError(DeltaError):
    """A delta is of a version that is not known here: update this side, or the one that sends.

    Attributes:
        version: the delta's.
        known: the one that is known here.
    """

    def __init__(self, version: object, known: int) -> None:
        super().__init__(version, known)
        self.version = version
        self.known = known

    def __str__(self) -> str:
        return f"a delta of version {self.version!r}, and only version {self.known} is known here: update one side"


class ForeignDeltaError(DeltaError):
    """A delta belongs to another stream; `peek` tells which, before it is fed.

    Attributes:
        expected: the stream that is put together.
        got: the stream of the delta.
    """

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return f"a delta of the stream {self.got!r}, fed to the assembly of {self.expected!r}: `peek` tells them apart"


class LostDeltaError(DeltaError):
    """A delta before this one has not arrived: feed that one first, or have the sender `restart`.

    Attributes:
        stream: the stream that lacks it.
        attempt: the attempt of the delta that was fed.
        expected: the number of the delta that should come next in this attempt.
        got: the number of the one that was fed.
    """

    def __init__(self, stream: str, attempt: int, expected: int, got: int) -> None:
        super().__init__(stream, attempt, expected, got)
        self.stream = stream
        self.attempt = attempt
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"delta {self.got} of {self.stream!r}, attempt {self.attempt}, came where {self.expected} should: feed the"
            " lost ones first, or have the sender restart"
        )


class MalformedDeltaError(DeltaError):
    """The bytes are no delta, or one that says what cannot be.

    Attributes:
        reason: what is wrong with them.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no valid delta: {self.reason}"


class DamagedRecordError(DeltaError):
    """All deltas have arrived, and the record is not the one that was sent: have the sender `restart`.

    Attributes:
        stream: the stream.
        expected: the digest that the sender gives.
        got: the digest of what was put together.
    """

    def __init__(self, stream: str, expected: str, got: str) -> None:
        super().__init__(stream, expected, got)
        self.stream = stream
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"the record of {self.stream!r} has the digest {self.got} where {self.expected} was sent: bytes were"
            " changed on the way, have the sender restart"
        )
