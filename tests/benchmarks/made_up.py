"""What pytest-benchmark would write, made up: a little of everything."""

from typing import Any

from benchmarks.ways import WAYS

CURVE = [[0, 0.1], [50, 0.2], [99, 1.0], [100, 2.0]]
STALL: dict[str, Any] = {"p50_ms": 0.2, "p99_ms": 1.0, "worst_ms": 2.0, "ticks": 400, "curve": CURVE, "seconds": 0.2}
STALL |= {
    "idle_p50_ms": 0.1,
    "idle_p99_ms": 0.5,
    "idle_worst_ms": 0.9,
    "idle_curve": CURVE,
    "control_p99_ms": 0.7,
    "control_worst_ms": 0.8,
}


def made_up_output() -> dict[str, Any]:
    """A whole output."""
    infos = [*_cpu(), *_stalls(), *_shapes(), *_memory(), *_others(), *_uploads(), *_runs()]
    return {
        "benchmarks": [
            {"name": f"test[{number}]", "extra_info": info | STALL, "stats": {"median": 0.5}}
            for number, info in enumerate(infos)
        ],
        "machine_info": {
            "cpu": {"brand_raw": "A | CPU", "count": 2},
            "python_implementation": "CPython",
            "python_version": "3.11.0",
            "system": "Linux",
            "load": 0.25,
        },
        "datetime": "2026-01-02T03:04:05",
    }


def _cpu() -> list[dict[str, Any]]:
    measured = {
        "cpu_s": {"to_json": 0.01, "plain": 0.04, "orjson alone": 0.01, "node at a time": 0.05},
        "ratios": {"plain": 0.25, "orjson alone": 1.0, "node at a time": 0.2},
    }
    return [
        {"kind": "cpu", "size_mb": size_mb, "tokens": tokens, "bytes": round(size_mb * 1e6)} | measured
        for size_mb in (2.2, 35.0, 1000.0)
        for tokens in (40, 900)
    ]


def _stalls() -> list[dict[str, Any]]:
    return [
        {"kind": "stall", "way": way, "size_mb": size_mb, "tokens": tokens, "longest_step_ms": 0.25}
        for size_mb in (2.2, 35.0, 1000.0)
        for tokens in (40, 900)
        for way in WAYS
    ]


def _shapes() -> list[dict[str, Any]]:
    return [
        {"kind": "shape", "shape": shape, "way": way}
        for shape in ("80 MB argument", "8 at once")
        for way in ("plain", "to_json", "iter_json", "aiter_json")
    ]


def _memory() -> list[dict[str, Any]]:
    return [
        {
            "kind": "memory",
            "way": way,
            "size_mb": size_mb,
            "bytes": 1_000_000,
            "model_bytes": 1_000_000,
            "peak_bytes": peak_bytes,
            "traced_bytes": traced_bytes,
        }
        for way, peak_bytes, traced_bytes in (("plain", 9_000_000, 9_000_000), ("iter_json", None, 5_000_000))
        for size_mb in (35.0, 133.0)
    ] + [
        {
            "kind": "memory",
            "way": "to_json",
            "size_mb": 35.0,
            "bytes": 10,
            "model_bytes": 1,
            "peak_bytes": 1,
            "traced_bytes": 19,
        }
    ]


def _others() -> list[dict[str, Any]]:
    measured = {"cpu_s": {"plain": 0.1, "to_json": 0.12}, "ratios": {"plain": 1.2}}
    return [{"kind": "others", "model": "lists, rounding", "bytes": 7_000_000, "longest_call_ms": 0.2} | measured]


def _uploads() -> list[dict[str, Any]]:
    return [
        {"kind": "seal", "compressor": "zlib 9", "bytes": 10_000_000, "compressed_bytes": 2_000_000, "cpu_s": 0.25},
        {
            "kind": "submit",
            "record": "episodes",
            "calls": 9,
            "refused": 2,
            "p50_us": 9.0,
            "p99_us": 31.0,
            "worst_us": 400.0,
        },
        {"kind": "seal_worker", "bytes": 10_000_000, "compressed_bytes": 2_000_000},
        {"kind": "upload", "client": "8 in flight, gzip 1", "bytes": 70_000_000, "requests": 8},
    ]


def _runs() -> list[dict[str, Any]]:
    logged = {"episodes": 40, "bytes": 300_000_000, "logged_s": 1.5, "p50_us": 9.0, "p99_us": 31.0, "worst_us": 700.0}
    logged |= {"cpu_p99_us": 50.0, "cpu_worst_us": 90.0, "control_p99_us": 40.0, "control_worst_us": 600.0}
    kept = {"stored": 30, "spooled": 10, "set_aside": 0, "lost": 0, "peak_bytes": 90_000_000}
    lost = {"stored": 30, "spooled": 0, "set_aside": 0, "lost": 10, "peak_bytes": 400_000_000}
    said = {"said_to_be_stored": 499, "said_to_be_lost": 0}
    return [
        {"kind": "run", "side": "unstall", "scenario": "one burst"} | logged | kept,
        {"kind": "run", "side": "prime-runs", "scenario": "one burst"} | logged | lost,
        {
            "kind": "throughput",
            "bytes": 90_000_000,
            "mb_per_s": {"unstall": 300.0, "prime-runs": 20.0, "node at a time": 50.0},
            "mb_per_cpu_s": {"unstall": 200.0, "prime-runs": 20.0, "node at a time": 50.0},
            "ratios": {"prime-runs": 15.0, "node at a time": 6.0},
        },
        {"kind": "poison", "side": "unstall", "episodes": 500, "stored": 499, "set_aside": 1, "lost": 0} | said,
        {
            "kind": "kills",
            "side": "unstall",
            "kills": 10,
            "killed_resumes": 1,
            "confirmed": 90,
            "stored": 99,
            "lost": 1,
            "doubled": 0,
            "unexplained": 0,
        },
        {
            "kind": "outage",
            "side": "prime-runs",
            "episodes": 350,
            "outage_s": 600.0,
            "stored": 50,
            "spooled": 0,
            "lost": 300,
        },
        {
            "kind": "contention",
            "side": "unstall",
            "producers": 12,
            "slots": 16,
            "sent_s": 25.0,
            "stored": 850,
            "refusals": 65,
            "best_per_s": 38.5,
            "goodput": 0.9,
            "goodput_at_first": 0.875,
            "least": 0.2,
        },
    ]
