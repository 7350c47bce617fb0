"""Make `benchmarks` importable: it is no part of the distribution, and the tests run against that."""

import importlib.util
import sys

from tests.conftest import ROOT


def register_benchmarks() -> None:
    """Let it be imported from this checkout."""
    if "benchmarks" in sys.modules:
        return
    folder = ROOT / "benchmarks"
    spec = importlib.util.spec_from_file_location(
        "benchmarks", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks"] = module
    spec.loader.exec_module(module)
