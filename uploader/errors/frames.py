"""Errors let go of the variables of their frames."""

import traceback

_MAX_CHAIN = 20
"""How far the causes of an error are followed: a chain may be a circle."""


def clear_frames(error: BaseException) -> None:
    """Let go of the variables in an error's tracebacks: megabytes of body, and the key. The lines themselves stay.

    Some tools print variables or send them away. What is still running keeps its own.
    """
    link: BaseException | None = error
    for _ in range(_MAX_CHAIN):
        if link is None:
            return
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
