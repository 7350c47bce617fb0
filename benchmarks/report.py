"""Write the reports anew from a JSON file: `python -m benchmarks.report bench-results/benchmarks.json`."""

import json
import sys
from pathlib import Path

from benchmarks.results import read_results
from benchmarks.tables import tables
from benchmarks.terminal import print_tables
from benchmarks.writing import write_reports


def main(file: Path) -> None:
    """Read a file that `tox -e bench` wrote, and put its reports beside it."""
    results = read_results(json.loads(file.read_bytes()))
    print_tables(tables(results), write_reports(results, file.parent))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
