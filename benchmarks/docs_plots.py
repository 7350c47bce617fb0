"""Draw the plots of docs/, of the figures that are kept beside them.

python -m benchmarks.docs_plots                                  # draw them anew
python -m benchmarks.docs_plots bench-results/benchmarks.json    # take what that run measured, then draw
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks import plots, run_plots
from benchmarks.pictures import picture
from benchmarks.results import Results, read_results
from benchmarks.ways import WAYS

FOLDER: Final = Path(__file__).parent.parent / "docs" / "plots"
MEASURED: Final = "measured.json"
TOKENS: Final = 900
"""Which episodes the plots of stalls are about: an agent's."""

_MACHINE: Final = ("cpu", "python_implementation", "python_version", "system", "machine", "load")


def _stalls(results: Results, origin: str) -> str:
    shown = replace(results, rows=[row for row in results.rows if row.info["tokens"] == TOKENS])
    drawings = plots.size_plots(shown)
    title = "How late the ticks of an event loop come while an episode is encoded, by the size of the episode"
    return picture(title, drawings, plots.legend((*WAYS, "idle", "control")), origin)


def _cpu(results: Results, origin: str) -> str:
    title = "CPU time of to_json, beside the plain way and beside orjson alone"
    return picture(title, plots.cpu_plots(results), (), origin)


def _throughput(results: Results, origin: str) -> str:
    drawings = [run_plots.speed_plot(row) for row in results.rows]
    return picture("How fast episodes are encoded, sealed and sent, beside other ways", drawings, (), origin)


PICTURES: Final[Mapping[str, Callable[[Results, str], str]]] = {
    "stall": _stalls,
    "cpu": _cpu,
    "throughput": _throughput,
}
"""What draws the picture of each kind of benchmark."""


def drawn(measured: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The file name and the text of each picture, of the figures of each kind."""
    for kind, output in measured.items():
        results = read_results(output)
        yield f"{kind}.svg", PICTURES[kind](results, f"{results.date[:10]}, {results.machine}")


def measured_in(output: Mapping[str, Any]) -> dict[str, Any]:
    """What a run of the benchmarks measured of that which is drawn, by kind."""
    machine = {name: output["machine_info"].get(name) for name in _MACHINE}
    found: dict[str, Any] = {}
    for kind in PICTURES:
        rows = [_kept(item) for item in output["benchmarks"] if item["extra_info"].get("kind") == kind]
        if rows:
            found[kind] = {"datetime": output["datetime"], "machine_info": machine, "benchmarks": rows}
    return found


def _kept(item: Mapping[str, Any]) -> dict[str, Any]:
    """What is drawn of a benchmark; the distributions of its stalls are long, and are not."""
    info = {name: [] if name.endswith("curve") else value for name, value in item["extra_info"].items()}
    return {"name": item["name"], "extra_info": info, "stats": {"median": item["stats"]["median"]}}


def main(arguments: list[str]) -> None:
    """Draw them; with files, of what these hold first."""
    kept = FOLDER / MEASURED
    measured = json.loads(kept.read_bytes()) if kept.exists() else {}
    for name in arguments:
        measured |= measured_in(json.loads(Path(name).read_bytes()))
    FOLDER.mkdir(exist_ok=True)
    kept.write_text(f"{json.dumps(measured, indent=1)}\n", encoding="utf-8")
    for name, text in drawn(measured):
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
