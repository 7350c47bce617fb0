"""The end of an event loop, orderly or not."""

import asyncio
from contextlib import suppress

_PATIENCE_S = 0.1

_left_behind: list[object] = []


def leave_behind(*things: object) -> None:
    """Keep what must be neither used nor closed for as long as the process lives.

    A loop's selector and its sockets may be a parent process's, and would be closed with the last reference.
    """
    _left_behind.extend(things)


def wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what runs on a loop, and close it; it is left behind when something heeds no cancellation."""
    with suppress(BaseException):
        if tasks := asyncio.all_tasks(loop):
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE_S))
        loop.run_until_complete(loop.shutdown_asyncgens())
    if asyncio.all_tasks(loop):
        leave_behind(loop)
    else:
        loop.close()
