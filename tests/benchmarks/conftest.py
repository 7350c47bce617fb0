from tests.benchmarks.registering import register_benchmarks

register_benchmarks()
