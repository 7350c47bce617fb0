"""Opaque page cursors: where a page ended, bound to the filters that it was made with."""

import base64
import binascii
import hashlib

import msgspec

from uploader.receiver.errors import RequestRefusedError

#: The sort key of a page's last item, biggest part first.
Position = tuple[int | str, ...]


class _Cursor(msgspec.Struct, array_like=True):
    scope: bytes
    position: tuple[int | str, ...]


def scope_of(route: str, params: list[tuple[str, str]]) -> bytes:
    """What a cursor belongs to: a route and its filters, in any order.

    Args:
        route: names the list, ids in its path included.
        params: the query's parameters, without `cursor` and `limit`.
    """
    return hashlib.sha256(msgspec.json.encode([route, sorted(params)])).digest()[:12]


def encode_cursor(scope: bytes, position: Position) -> str:
    """The cursor for the page after `position`."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(_Cursor(scope, position))).decode().rstrip("=")


def decode_cursor(cursor: str, scope: bytes, types: tuple[type[int] | type[str], ...]) -> Position:
    """Where the next page starts.

    Args:
        cursor: what the producer sent.
        scope: what it must belong to.
        types: of the position's parts.

    Raises:
        RequestRefusedError: `invalid_cursor`, when it is none of ours or of another list or other filters.
    """
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        found = msgspec.msgpack.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=_Cursor)
    except (UnicodeEncodeError, binascii.Error, msgspec.MsgspecError) as error:
        raise RequestRefusedError("invalid_cursor", "The cursor is none that this receiver gave.") from error
    if found.scope != scope or tuple(map(type, found.position)) != types:
        raise RequestRefusedError(
            "invalid_cursor", "The cursor belongs to another list or to other filters: start over."
        )
    if any(isinstance(part, int) and abs(part) >= 2**63 for part in found.position):
        raise RequestRefusedError("invalid_cursor", "The cursor is none that this receiver gave.")
    return found.position
