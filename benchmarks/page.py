"""The report as one HTML page that needs nothing else."""

from benchmarks import plots, run_plots
from benchmarks.bounds import verdicts
from benchmarks.markup import cards, document, section
from benchmarks.results import Results
from benchmarks.run_tables import RUN_TABLES
from benchmarks.tables import (
    cpu_table,
    memory_table,
    others_table,
    seal_table,
    shape_table,
    stall_table,
    upload_table,
)
from benchmarks.ways import OURS, WAYS
from benchmarks.worker_tables import submit_table, worker_table


def page(results: Results) -> str:
    """The whole page; sections about which nothing was measured are left out."""
    stalls = stall_table(results)
    sections = [
        cards(verdicts(results)),
        section(
            "CPU time",
            "to_json beside other ways, round by round in one run; medians of the ratios. The dark mark is the limit.",
            plots.cpu_plots(results),
            [cpu_table(results)],
        ),
        section(
            "How late ticks come while an episode is encoded",
            "A probe on an event loop asks to be woken each millisecond; the curves show which share of its ticks came "
            "at most so late. Left is better. aiter_json runs on the loop itself, all others in another thread.",
            plots.curve_plots(results),
            [],
            plots.legend((*WAYS, "idle")),
        ),
        section(
            "Stalls against size",
            "worst: the median of the runs' worst ticks. control: a thread that only counts and gives way "
            "as the encoder does, in the same minutes. The dashed line is the limit.",
            plots.size_plots(results),
            [stalls],
            plots.legend((*WAYS, "idle", "control")),
        ),
        section(
            "Adversarial shapes",
            "One enormous field of one node each, and other hard cases. The dark mark is the limit.",
            plots.shape_plots(results),
            [shape_table(results)],
            plots.legend(("plain", *OURS, "idle", "control")),
        ),
        section(
            "Memory",
            "What Python and numpy allocate at most while one episode is encoded, beyond the model itself.",
            plots.memory_plots(results),
            [memory_table(results)],
            plots.legend(("plain", "to_json", "iter_json")),
        ),
        section(
            "Models of others",
            "Python lists and serializers of their own. The dark mark is the limit.",
            plots.others_plots(results),
            [others_table(results)],
        ),
        section(
            "Sealing and uploading",
            "SHA-256 and gzip of encoded lines, and whole episodes to a service in the same process.",
            plots.upload_plots(results),
            [seal_table(results), upload_table(results), submit_table(results), worker_table(results)],
        ),
        section(
            "Whole runs",
            "Episodes of production sizes from submit to the service, beside the released prime-runs 0.1.4: "
            "what became of them, and how fast they get there.",
            run_plots.run_plots(results),
            [table(results) for table in RUN_TABLES],
            run_plots.LEGEND,
        ),
    ]
    origin = f"{results.date[:16].replace('T', ' ')}, {results.machine}"
    return document("unstall: benchmarks", origin, "".join(sections))
