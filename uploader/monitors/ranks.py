"""Which of many equal processes logs: the first one, as all of them have the same to say."""

import os
from collections.abc import Mapping
from typing import Final

VARIABLES: Final = ("RANK", "DP_RANK")


def is_first_rank(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is of rank 0 by `RANK` and `DP_RANK`; one that is not set, or no number, says nothing."""
    for variable in VARIABLES:
        value = environment.get(variable)
        if value is not None and value.strip().lstrip("+-").isdecimal() and int(value) != 0:
            return False
    return True
