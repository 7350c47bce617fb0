"""One thread that runs calls for an event loop, one after another."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Offload:
    """A thread of its own, so that what it does is never queued behind a stranger's work.

    It starts with the first call and sees the context variables of whoever made it.

    Args:
        name: the thread's name.
    """

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._context = contextvars.copy_context()

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
        """Call a function in the thread; a cancelled caller leaves it running."""
        bound = partial(self._context.run, function, *args, **kwargs)
        return asyncio.get_running_loop().run_in_executor(self._executor, bound)

    async def aclose(self, last: Callable[[], None] | None = None) -> None:
        """Wait for the running call, make a last one, and end the thread.

        A cancellation waits until then: whoever gets control back can rely on the thread being gone.

        Raises:
            Exception: what the last call raised, unless a cancellation came meanwhile.
        """
        # A future, not a task: a loop that cancels all its tasks would leave the last call undone.
        ending = self.call(last or _nothing)
        cancelled: asyncio.CancelledError | None = None
        while not ending.done():
            try:
                await asyncio.wait([ending])
            except asyncio.CancelledError as error:
                cancelled = error
        self._executor.shutdown(wait=True)  # the thread is idle, this takes microseconds
        failure = ending.exception()
        if cancelled is not None:
            raise cancelled
        if failure is not None:
            raise failure


def _nothing() -> None:
    """The last call when there is nothing to close."""
