"""What is measured: which monitors, over which network, with how many episodes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

PARTS: Final = {
    "upload": ("upload",),
    "file": ("file",),
    "wandb": ("wandb",),
    "both": ("upload", "file"),
    "all": ("upload", "file", "wandb"),
    "plain": ("plain",),
}
"""The monitors behind each name; `plain` is the plain way, which is compared."""

NETWORKS: Final = ("none", "shaped", "stalled", "transport")
"""Between the uploader and the receiver: nothing; 100 ms and 100 MB/s a request; one that stands still for half of the
time; and no receiver at all, but a transport in the same process that takes each body and says that it is stored."""

PLAIN_MOST: Final = 100
"""So many episodes the plain way survives: it holds the JSON of all of them."""
SMALL_FROM: Final = 10_000
"""So many episodes are of 2.2 MB each."""
BOUNDED_EPISODES: Final = 1000
"""At this number the bounds are meant; by default nothing else is measured there."""
_BOUNDED: Final = (("upload", "none"), ("upload", "transport"), ("file", None), ("both", "none"))

DEFAULT_EPISODES: Final = (100, BOUNDED_EPISODES)

_MEAN_BYTES: Final = 8.3e6
_SMALL_BYTES: Final = 2.2e6
_SPEEDS: Final = {"upload": 90e6, "file": 200e6, "wandb": 300e6, "both": 80e6, "all": 70e6, "plain": 25e6}
"""Bytes of JSON a second that are more or less to be expected."""
_TRANSPORT_SPEED: Final = 250e6
_SET_UP_S: Final = 8.0
_SOAK_BYTES_PER_S: Final = 25e6


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure.

    Attributes:
        monitors: a name in `PARTS`.
        network: one of `NETWORKS`; None if nothing is sent.
        episodes: how many are logged; 0 in a soak, where the time says it.
        run: the number of the repetition, from 1.
        soak_s: how long a soak lasts; 0.0 if this is none.
        scale: how many times as large as in production the episodes are.
        is_receiver_idle: whether the receiver has only the CPU time that nobody else wants.
    """

    monitors: str
    network: str | None
    episodes: int
    run: int = 1
    soak_s: float = 0.0
    scale: float = 1.0
    is_receiver_idle: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The monitors that are logged to."""
        return PARTS[self.monitors]

    @property
    def has_receiver(self) -> bool:
        """Whether there is a receiver to upload to."""
        return self.network not in (None, "transport")

    @property
    def name(self) -> str:
        """What it is called, its run left out."""
        scaled = "" if self.scale == 1.0 else f", × {self.scale:g}"
        if self.soak_s:
            return f"soak, {self.soak_s / 60:g} min{scaled}"
        over = "" if self.network is None else f", {self.network}"
        idle = ", idle receiver" if self.is_receiver_idle else ""
        return f"{self.monitors}{over}, {self.episodes:,}{scaled}{idle}"

    @property
    def expected_s(self) -> float:
        """About how long it takes."""
        if self.soak_s:
            return self.soak_s * 1.1
        speed = _TRANSPORT_SPEED if self.network == "transport" else _SPEEDS[self.monitors]
        return _SET_UP_S + self._json_bytes / speed

    @property
    def disk_bytes(self) -> float:
        """About how much it puts on the disk at most: uploads wait there, and are stored there, at a quarter each."""
        if self.soak_s:
            return self.soak_s * _SOAK_BYTES_PER_S
        factors = {"upload": 0.5, "file": 1.0, "wandb": 0.0, "plain": 0.25}
        return self._json_bytes * sum(factors[part] for part in self.parts)

    @property
    def _json_bytes(self) -> float:
        return self.episodes * self.scale * (_SMALL_BYTES if self.episodes >= SMALL_FROM else _MEAN_BYTES)


def all_cases(
    episodes: Sequence[int] | None,
    monitors: Sequence[str],
    networks: Sequence[str],
    runs: int = 1,
    soak_s: float = 0.0,
    scale: float = 1.0,
) -> list[Case]:
    """All that is to be measured, in turns: the second run of a case comes after the first of every other.

    Args:
        episodes: how many; None for 100, and 1,000 of what has bounds.
        monitors: names in `PARTS`.
        networks: some of `NETWORKS`. Only uploading alone goes through all of them, other monitors that upload only
            through the first that leads to a receiver.
        runs: how often each is measured; the plain way once.
        soak_s: how long the soak lasts, which comes last; 0.0 for none.
        scale: how many times as large as in production the episodes are.
    """
    counts = DEFAULT_EPISODES if episodes is None else episodes
    kinds = list(dict.fromkeys((name, network) for name in monitors for network in _networks_of(name, networks)))
    found = [
        Case(name, network, min(count, PLAIN_MOST) if name == "plain" else count, run, scale=scale)
        for run in range(1, runs + 1)
        for count in counts
        for name, network in kinds
        if episodes is not None or count < BOUNDED_EPISODES or (name, network) in _BOUNDED
    ]
    found = [case for case in dict.fromkeys(found) if case.run == 1 or case.monitors != "plain"]
    if soak_s:
        found.append(Case("upload", "none", 0, soak_s=soak_s, scale=scale))
    return found


def _networks_of(name: str, networks: Sequence[str]) -> Iterator[str | None]:
    if not {"upload", "plain"} & set(PARTS[name]):
        yield None
    elif name == "upload":
        yield from networks
    else:
        yield next((network for network in networks if network != "transport"), "none")
