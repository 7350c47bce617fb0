"""When the next episode may be logged."""


class Pace:
    """Episodes come at so many bytes a second; who is late catches up.

    Args:
        bytes_per_s: how fast; None for as fast as they are taken.
        start_s: the time at which the first one is due.
    """

    def __init__(self, bytes_per_s: float | None, start_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._due_s = start_s

    def wait_s(self, size: int, now_s: float) -> float:
        """How long to wait from now on before an episode of a size is logged; the next one is due after that."""
        wait_s = max(0.0, self._due_s - now_s)
        if self._bytes_per_s is not None:
            self._due_s += size / self._bytes_per_s
        return wait_s
