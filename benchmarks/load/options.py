"""The command line."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.load.cases import NETWORKS, PARTS, Case, all_cases

DEFAULT_MONITORS: Final = ("upload", "file", "both", "wandb", "all", "plain")
DEFAULT_SOAK_MIN: Final = 20.0

_EPILOG: Final = """\
how long it takes on two quiet cores, more or less:
  by default                                                           10 min
  --episodes 1000 --monitors upload file both --network none --runs 5  20 min
  --episodes 1000 --monitors upload --network transport --runs 5        3 min
  --episodes 10000 --monitors upload --network shaped                   7 min
  --soak                                                               22 min

10,000 episodes are of 2.2 MB each, any other number has production sizes (6.4 MB in the middle, 8.5 on average).
What is uploaded and written lies in the folder for temporary files meanwhile (TMPDIR). It must have room for 12 GB:
uploads of 1,000 episodes want 4 of them, files 8; of 10,000 they want 11 and 22 GB, a soak of 20 minutes 30 GB.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What is wanted.

    Attributes:
        cases: what is measured, in order.
        results: the folder of the reports.
    """

    cases: list[Case]
    results: Path


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Read a command line, by default the process's.

    Raises:
        SystemExit: it cannot be used, or only help was asked for.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load",
        description="Log episodes of production sizes from an event loop, and see what the loop feels of it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--episodes", type=_count, nargs="+", metavar="N", help="how many (100, and 1,000 of what has bounds)")
    add("--monitors", nargs="+", choices=list(PARTS), default=list(DEFAULT_MONITORS), metavar="M",
        help="upload, file, wandb (offline), both (upload and file), all (three), plain (the plain way, at most 100 "
        "episodes); by default each")  # fmt: skip
    add("--network", nargs="+", choices=NETWORKS, default=list(NETWORKS), metavar="N",
        help="between the uploader and the receiver: none, shaped (100 ms and 100 MB/s a request), stalled (it stands "
        "still for two of four seconds), transport (no receiver: a transport in the same process); by default each, "
        "the other monitors over the first alone")  # fmt: skip
    add("--runs", type=_count, default=1, metavar="N", help="how often each is measured (1)")
    add("--results", type=Path, default=Path("load-results"), metavar="DIR", help="where the reports go (load-results)")
    add("--soak", type=float, nargs="?", const=DEFAULT_SOAK_MIN, default=0.0, metavar="MINUTES",
        help="a soak with faults, and nothing else unless --episodes is given, too (20 minutes)")  # fmt: skip
    add("--scale", type=float, default=1.0, metavar="X", help="episodes X times as large, to try things out (1)")
    add(
        "--receiver-idle",
        action="store_true",
        help="let the receiver have the CPU time alone that nobody else wants: it stands for another machine (but in a "
        "soak)",
    )
    found = parser.parse_args(arguments)
    if found.soak < 0:
        parser.error(f"--soak: {found.soak:g} minutes are none")
    if found.scale <= 0:
        parser.error(f"--scale: {found.scale:g} times as large is nothing")
    # A soak takes long enough: it stands alone, unless something was asked for with it.
    alone = found.soak and found.episodes is None
    monitors = [] if alone else found.monitors
    cases = all_cases(found.episodes, monitors, found.network, found.runs, 60.0 * found.soak, found.scale)
    if found.receiver_idle:
        cases = [
            replace(case, is_receiver_idle=True) if case.has_receiver and not case.soak_s else case for case in cases
        ]
    return Options(cases, found.results)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} is not positive")
    return count
