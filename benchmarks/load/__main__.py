"""`python -m benchmarks.load`: measure everything that is asked for, show it, and write the reports."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.load.measurement import new_results
from benchmarks.load.options import parse
from benchmarks.load.reports import show, write
from benchmarks.load.running import measure


def main(arguments: Sequence[str] | None = None) -> int:
    """Do as a command line says, by default the process's; the exit code: 1 if a case could not be measured."""
    options = parse(arguments)
    results = new_results()
    options.results.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=2) as progress:
        whole = progress.add_task("all", total=sum(case.expected_s for case in options.cases))
        for number, case in enumerate(options.cases, 1):
            name = f"{case.name}, run {case.run}"
            task = progress.add_task(f"{number} of {len(options.cases)}: {name}", total=1.0)
            measured = measure(case, lambda share, task=task: progress.update(task, completed=share))  # type: ignore[misc]
            progress.remove_task(task)
            progress.advance(whole, case.expected_s)
            results.measurements.append(measured)
            write(results, options.results)  # somebody may end it early
            if measured.problem:
                progress.console.print(f"{name}: {measured.problem}", markup=False, highlight=False)
    show(results, options.results)
    return int(any(measured.problem for measured in results.measurements))


if __name__ == "__main__":
    sys.exit(main())
