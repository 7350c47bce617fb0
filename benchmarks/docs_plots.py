"""Draw the plots of docs/, of the figures that are kept beside them.

python -m benchmarks.docs_plots                                  # draw them anew
python -m benchmarks.docs_plots bench-results/benchmarks.json    # take what that run measured, then draw
python -m benchmarks.docs_plots load-results/load.json           # likewise of the load test
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import plots, run_plots
from benchmarks.load.picture import kept_of, load_picture
from benchmarks.pictures import picture
from benchmarks.results import Results, read_results
from benchmarks.ways import WAYS

FOLDER: Final = Path(__file__).parent.parent / "docs" / "plots"
MEASURED: Final = "measured.json"
TOKENS: Final = 900
"""Which episodes the plots of stalls are about: an agent's."""

_MACHINE: Final = ("cpu", "python_implementation", "python_version", "system", "machine", "load")


def _stalls(output: Mapping[str, Any]) -> str:
    results = read_results(output)
    shown = replace(results, rows=[row for row in results.rows if row.info["tokens"] == TOKENS])
    title = "How late the ticks of an event loop come while an episode is encoded, by the size of the episode"
    return picture(title, plots.size_plots(shown), plots.legend((*WAYS, "idle", "control")), _origin(results))


def _cpu(output: Mapping[str, Any]) -> str:
    results = read_results(output)
    title = "CPU time of to_json, beside the plain way and beside orjson alone"
    return picture(title, plots.cpu_plots(results), (), _origin(results))


def _throughput(output: Mapping[str, Any]) -> str:
    results = read_results(output)
    drawings = [run_plots.speed_plot(row) for row in results.rows]
    return picture("How fast episodes are encoded, sealed and sent, beside other ways", drawings, (), _origin(results))


def _origin(results: Results) -> str:
    return f"{results.date[:10]}, {results.machine}"


PICTURES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "stall": _stalls,
    "cpu": _cpu,
    "throughput": _throughput,
    "load": load_picture,
}
"""What draws each picture, of the figures that are kept for it."""


def measured_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a file of the benchmarks or of the load test has for each picture."""
    taking = {"load": kept_of} if "measurements" in values else {kind: partial(_rows, kind) for kind in PICTURES}
    found = {kind: take(values) for kind, take in taking.items()}
    return {kind: kept for kind, kept in found.items() if kept is not None}


def _rows(kind: str, output: Mapping[str, Any]) -> dict[str, Any] | None:
    rows = [_kept(item) for item in output["benchmarks"] if item["extra_info"].get("kind") == kind]
    machine = {name: output["machine_info"].get(name) for name in _MACHINE}
    return {"datetime": output["datetime"], "machine_info": machine, "benchmarks": rows} if rows else None


def _kept(item: Mapping[str, Any]) -> dict[str, Any]:
    """What is drawn of a benchmark; the distributions of its stalls are long, and are not."""
    info = {name: [] if name.endswith("curve") else value for name, value in item["extra_info"].items()}
    return {"name": item["name"], "extra_info": info, "stats": {"median": item["stats"]["median"]}}


def drawn(measured: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The file name and the text of each picture."""
    for kind, kept in measured.items():
        yield f"{kind}.svg", PICTURES[kind](kept)


def main(arguments: list[str]) -> None:
    """Draw them; with files, of what these hold first."""
    kept = FOLDER / MEASURED
    measured = json.loads(kept.read_bytes()) if kept.exists() else {}
    for name in arguments:
        found = measured_in(json.loads(Path(name).read_bytes()))
        if not found:
            print(f"{name}: there is nothing in it to draw", file=sys.stderr)
        measured |= found
    FOLDER.mkdir(exist_ok=True)
    lines = (f"{json.dumps(kind)}: {json.dumps(measured[kind])}" for kind in PICTURES if kind in measured)
    kept.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for name, text in drawn(measured):
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
