"""Whatever a record grows by and however that is cut into deltas: what is put together is what one dump gives."""

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.delta import DeltaEncoder, DeltaLines, EpisodeAssembly, peek
from tests.encoder.delta.rollouts import RUNS, THINGS, Rollout, dumped
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id

SMALL = st.integers(0, 40)
EVENTS = st.tuples(st.sampled_from(THINGS), SMALL, SMALL)
CUTS = st.tuples(st.sampled_from(["delta", "delta", "thorough", "again", "restart", "discard"]), SMALL, SMALL)
HISTORIES = st.lists(st.one_of(EVENTS, EVENTS, CUTS), max_size=30)
WAYS = st.sampled_from(["encode", "iter_encode", "aiter_encode"])

EXCLUDES: list[Any] = [
    None,
    {"task", "run"},
    {"traces"},
    {"traces": {"__all__": {"nodes"}}},
    {"traces": {"__all__": {"id", "run", "timing", "num_input_tokens"}}},
    {"traces": {"__all__": {"nodes": {"__all__": {"token_ids", "logprobs"}}, "task": {"data": {"prompt"}}}}},
    {"traces": {"__all__": {"nodes": {"__all__": True}}}},
    {"traces": {"__all__": {"nodes": {-1, 0}}, 0: {"calls"}}},
    {"traces": {0: {"calls"}, -1: {"run"}}, "errors": {-1}},
    {"traces": {"__all__": True}},
    {"traces": {0}},
    {"traces": frozenset({1, 5})},
    {"traces": {"__all__": {"nodes": {"__all__": None}}}},
    {"errors": {"__all__": {"message"}}},
]
TRACE_EXCLUDES: list[Any] = [
    None,
    {"run", "id"},
    {"nodes": {"__all__": {"mask"}}},
    {"nodes": {-1}, "calls": {0: {"usage"}}},
    {"nodes": {"__all__": {"mask"}, -1: {"parent"}}},
]


def lines_of(encoder: DeltaEncoder, way: str, **how: Any) -> bytes:
    """The next line, in one of the three ways."""
    if way == "encode":
        return encoder.encode(**how)
    if way == "iter_encode":
        return b"".join(encoder.iter_encode(**how))
    return asyncio.run(joined(encoder, **how))


async def joined(encoder: DeltaEncoder, **how: Any) -> bytes:
    return b"".join([piece async for piece in encoder.aiter_encode(**how)])


@pytest.mark.every_path
@oracle_settings(100)
@given(st.data())
def test_what_is_put_together_is_what_one_dump_gives(data: st.DataObject) -> None:
    is_episode = data.draw(st.booleans())
    rollout, serial = Rollout(is_episode), 0
    options = {
        "float_decimals": data.draw(st.sampled_from([4, None, 0])),
        "exclude": data.draw(st.sampled_from(EXCLUDES if is_episode else TRACE_EXCLUDES)),
    }
    run = data.draw(st.sampled_from([None, *RUNS]))
    way = data.draw(WAYS)
    encoder, assembly = DeltaEncoder(rollout.record, **options), EpisodeAssembly(run=run)
    for what, which, number in data.draw(HISTORIES):
        if what in THINGS:
            rollout.happen(what, which, number)
        elif what == "restart":
            serial += which % 2
            rollout = Rollout(is_episode, serial) if which % 2 else rollout
            encoder.restart(rollout.record if which % 2 else None)
            rollout.is_stale = False
        elif what == "discard":
            assert assembly.feed(encoder.discard())
            assert assembly.is_discarded
            rollout.is_stale = False
        else:
            line = lines_of(encoder, way, thorough=what == "thorough")
            assert not line or assembly.feed(line)
            if what == "again" and line:
                assert not assembly.feed(line)
            rollout.is_stale &= what != "thorough"
            if not rollout.is_stale and assembly.attempt == encoder.attempt:
                assert assembly.to_json() == dumped(rollout.record, run, **options)
    assert assembly.feed(lines_of(encoder, way, last=True))
    assert assembly.is_complete
    assert assembly.to_json() == dumped(rollout.record, run, **options)
    assert assembly.kind == ("episode" if is_episode else "trace")


@pytest.mark.every_path
@pytest.mark.parametrize("run", [None, RUNS[1]], ids=["as sent", "with a run"])
@pytest.mark.parametrize(
    ("is_episode", "exclude"),
    [(True, exclude) for exclude in EXCLUDES] + [(False, exclude) for exclude in TRACE_EXCLUDES],
    ids=stable_id,
)
def test_all_that_can_happen_with_all_that_can_be_left_out(is_episode: bool, exclude: Any, run: Any) -> None:
    rollout = Rollout(is_episode)
    encoder, assembly = DeltaEncoder(rollout.record, exclude=exclude), EpisodeAssembly(run=run)
    for turn, what in enumerate(["episode_trace", "nodes", *THINGS, "episode_trace", *THINGS, *reversed(THINGS)]):
        rollout.happen(what, turn, turn + 3)
        line = encoder.encode(thorough=rollout.is_stale)
        assert not line or assembly.feed(line)
        rollout.is_stale = False
        assert assembly.to_json() == dumped(rollout.record, run, exclude=exclude)
    assembly.feed(encoder.encode(last=True))
    assert assembly.to_json() == dumped(rollout.record, run, exclude=exclude)


@oracle_settings(30)
@given(
    st.lists(st.tuples(st.integers(0, 2), EVENTS, st.booleans()), max_size=40),
    st.lists(st.sampled_from([1, 7, 100, 5000, 10**6]), min_size=1, max_size=4),
)
def test_streams_that_share_a_connection(history: Any, cuts: list[int]) -> None:
    """Several episodes, their lines in any order among each other, the bytes cut anywhere."""
    rollouts = [Rollout(True, number) for number in range(3)]
    encoders = [DeltaEncoder(rollout.record) for rollout in rollouts]
    assemblies = [EpisodeAssembly(stream=encoder.stream) for encoder in encoders]
    sent = bytearray()
    for index, (what, which, number), cut in history:
        rollouts[index].happen(what, which, number)
        if cut:
            sent += encoders[index].encode()
    for encoder in encoders:
        sent += encoder.encode(last=True)
    lines, start, sizes = DeltaLines(), 0, itertools.cycle(cuts)
    while start < len(sent):
        end = start + next(sizes)
        for line in lines.feed(bytes(sent[start:end])):
            by_name = {assembly.stream: assembly for assembly in assemblies}
            assert by_name[peek(line).stream].feed(line)
        start = end
    assert lines.is_empty
    for rollout, assembly in zip(rollouts, assemblies, strict=True):
        assert assembly.to_json() == dumped(rollout.record)
