"""The benchmarks: unstall beside the plain way, in one run."""
