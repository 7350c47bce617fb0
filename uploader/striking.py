"""The key is struck out of every text that others wrote: a service, a proxy or a library may repeat it."""

import json
import re
from typing import Final
from urllib.parse import quote, quote_plus

STRUCK_OUT: Final = "[key]"

_MAX_LINKS: Final = 50
"""How many errors of a chain are looked at: it may be a circle."""


def strike_out(text: str, api_key: str) -> str:
    """A text without the key, in whatever case, plain, percent-encoded or with escapes."""
    if not api_key:
        return text
    forms = {api_key, quote(api_key, safe=""), quote(api_key), quote_plus(api_key), json.dumps(api_key)[1:-1]}
    forms |= {repr(api_key)[1:-1], repr(api_key.encode())[2:-1]}
    pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    return re.sub(pattern, STRUCK_OUT, text, flags=re.IGNORECASE)


def strike_out_of(error: BaseException, api_key: str) -> None:
    """Take the key out of the texts of an error, and of those that caused it: tracebacks print them all."""
    waiting: list[BaseException | None] = [error]
    for _ in range(_MAX_LINKS):
        if not waiting:
            return
        link = waiting.pop()
        if link is None:
            continue
        link.args = tuple(strike_out(one, api_key) if isinstance(one, str) else one for one in link.args)
        for name in ("message", "strerror", "reason"):  # what the text is made of where it is not made of `args`
            if isinstance(text := getattr(link, name, None), str) and text != (struck := strike_out(text, api_key)):
                setattr(link, name, struck)
        waiting += [link.__cause__, link.__context__]
        if isinstance(link, BaseExceptionGroup):
            waiting += link.exceptions
