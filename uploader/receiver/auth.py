"""The bearer token, compared without giving away how much of it was right."""

import hmac

from uploader.receiver.errors import RequestRefusedError


def check_bearer(authorization: str | None, api_key: str | None) -> None:
    """Let a request through, or refuse it.

    Args:
        authorization: the request's Authorization header.
        api_key: the token that is asked for; None asks for none.

    Raises:
        RequestRefusedError: `unauthenticated`, when the token is missing or another one.
    """
    if api_key is None:
        return
    scheme, _, token = (authorization or "").partition(" ")
    # Header values arrive as latin-1 text; the same encoding gives back the bytes that were sent.
    given = token.strip().encode("latin-1", "replace")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given, api_key.encode()):
        raise RequestRefusedError(
            "unauthenticated", "This receiver asks for its API key: send Authorization: Bearer <key>."
        )
