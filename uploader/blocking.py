"""A blocking call in a thread, never left running behind a cancelled caller."""

import asyncio
import contextvars
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function in a worker thread.

    A thread cannot be cancelled. When the caller is, this waits until the function has ended, so that what it uses may
    be closed, and then lets the cancellation go on.
    """
    bound = partial(contextvars.copy_context().run, function, *args, **kwargs)
    # A future, not a task: a loop that cancels all its tasks would cut the waiting short.
    work = asyncio.get_running_loop().run_in_executor(None, bound)
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    failure = work.exception()
    if cancelled is not None:
        raise cancelled
    if failure is not None:
        raise failure
    return work.result()
