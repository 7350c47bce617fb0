"""The request's own facts: the idempotency key, the line format and the metadata part."""

import re
from typing import Final, Literal

import msgspec

from uploader.receiver.errors import RequestRefusedError

LineFormat = Literal["trace", "episode"]
SCHEMA_VERSION: Final = 1
_KEY: Final = re.compile(r"sha256:([0-9a-f]{64})")


class Metadata(msgspec.Struct, frozen=True):
    """The `metadata` part.

    Attributes:
        schema_version: of the records; 1 is the only one there is.
        context: free labels of the upload.
    """

    schema_version: int
    context: dict[str, str] = msgspec.field(default_factory=dict)


def parse_idempotency_key(header: str | None) -> str:
    """The digest that the header names, as 64 hex digits.

    Raises:
        RequestRefusedError: `invalid_idempotency_key`.
    """
    match = _KEY.fullmatch(header or "")
    if match is None:
        raise RequestRefusedError(
            "invalid_idempotency_key",
            "Idempotency-Key must be sha256: and 64 lowercase hex digits, the digest of the plain bytes.",
        )
    return match[1]


def parse_line_format(header: str | None) -> LineFormat:
    """The format of the lines; traces when the header is absent.

    Raises:
        RequestRefusedError: `invalid_metadata`, for a format that there is not.
    """
    if header is None or header == "trace":
        return "trace"
    if header == "episode":
        return "episode"
    raise RequestRefusedError(
        "invalid_metadata", f"X-Prime-Line-Format must be episode or absent, not {header[:100]!r}."
    )


def parse_metadata(data: bytes) -> Metadata:
    """Read the metadata part.

    Raises:
        RequestRefusedError: `invalid_metadata` or `unsupported_schema_version`.
    """
    try:
        metadata = msgspec.json.decode(data, type=Metadata)
        data.decode()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestRefusedError("invalid_metadata", f"The metadata part is not as agreed: {error}.") from error
    if metadata.schema_version != SCHEMA_VERSION:
        raise RequestRefusedError(
            "unsupported_schema_version",
            f"schema_version {metadata.schema_version} is unknown: this receiver takes {SCHEMA_VERSION}.",
        )
    return metadata
