"""Names for parameters of tests that are the same in every process: no addresses, and sets in order."""

import re
from typing import Any


def stable_id(value: Any) -> str:
    """Like `repr`, but for addresses and the order of sets."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{stable_id(key)}: {stable_id(member)}" for key, member in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({', '.join(sorted(map(stable_id, value)))})"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
