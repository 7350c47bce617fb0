"""Stalls on adversarial shapes, many threads, a large heap, and an episode that changes meanwhile."""

from collections.abc import Callable, Iterator

import pytest

from benchmarks.measuring import Benchmark, facts, measured_s, probed
from benchmarks.progress import Progress
from benchmarks.settings import Settings
from benchmarks.shapes import Shape, all_shapes, at_once, ten_million_live_objects, while_appending
from benchmarks.ways import OURS, ways
from encoder import Episode
from encoder.gaps import longest_gaps
from encoder.synthetic import synthetic_episode
from encoder.trials import Work

pytestmark = pytest.mark.benchmark(timer=measured_s)

THREADS = 8
EPISODE_BYTES = 8_400_000
SHAPES = {shape.name: shape for shape in all_shapes()}
SHAPE_WAYS = ("plain", *OURS)

Measure = Callable[[str, str, Work], None]


@pytest.fixture
def measure(benchmark: Benchmark, settings: Settings, progress: Progress) -> Measure:
    """Measure a way's work on a shape."""

    def run(shape: str, way: str, work: Work) -> None:
        facts(benchmark, "shape", shape, shape=shape, way=way)
        runs = settings.runs_of_shapes(way)
        # A single run of the plain way is not warmed up: it may take seconds, and stalls by hundreds of the limit.
        options = {"min_run_s": 0.0} if way == "plain" else {}
        probed(benchmark, work, runs, on_run=lambda number: progress(f"{shape}: {way}, run {number}"), **options)

    return run


@pytest.fixture(scope="module", params=list(SHAPES))
def shape(request: pytest.FixtureRequest) -> Shape:
    return SHAPES[request.param]


@pytest.fixture(scope="module")
def shaped(shape: Shape) -> Episode:
    return shape.build()


@pytest.mark.parametrize("way", SHAPE_WAYS)
def test_shape(benchmark: Benchmark, measure: Measure, shape: Shape, shaped: Episode, way: str) -> None:
    measure(shape.name, way, ways(shaped)[way])
    if way == "to_json":
        benchmark.extra_info["longest_step_ms"] = round(longest_gaps(shaped.to_json).step_ms, 4)


@pytest.fixture(scope="module")
def large_heap() -> Iterator[None]:
    with ten_million_live_objects():
        yield


@pytest.fixture(scope="module")
def episode() -> Episode:
    return synthetic_episode(5, target_bytes=EPISODE_BYTES)


@pytest.mark.parametrize("way", SHAPE_WAYS)
@pytest.mark.usefixtures("large_heap")
def test_large_heap(measure: Measure, episode: Episode, way: str) -> None:
    measure("10 M live objects", way, ways(episode)[way])


@pytest.mark.parametrize("way", SHAPE_WAYS)
def test_eight_at_once(measure: Measure, way: str) -> None:
    episodes = [synthetic_episode(seed, target_bytes=EPISODE_BYTES) for seed in range(THREADS)]
    measure(f"{THREADS} at once", way, at_once([ways(episode)[way] for episode in episodes]))


@pytest.mark.parametrize("way", SHAPE_WAYS)
def test_appending_meanwhile(measure: Measure, way: str) -> None:
    episode = synthetic_episode(5, target_bytes=EPISODE_BYTES)
    measure("nodes appended", way, while_appending(episode, ways(episode)[way]))
