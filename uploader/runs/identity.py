"""Records get the identity of the run that logged them, without being copied and without being touched.

What is encoded is a stand-in: the record's own attributes with another `run`, and of an episode with stand-ins for its
traces. Nodes and columns are shared, so a stand-in costs a microsecond or two a trace, whatever the record's size; it
is made right before it is encoded, on the thread that encodes, giving way as often as the encoder does.

Rules:

1. `run.id` and `run.type` are the run's. Whatever else a record says of its run is kept: `name` and `work`.
2. A trace that says nothing of its run gets what its episode has; the service reads the run from the traces.
3. A training run needs `work`: where there is none it becomes `{type: train, step: step or 0}`, with the type `eval`
   for records that evaluate the model in training. An evaluation run has none.
4. Mappings are treated alike. Encoded bytes stay as they are; so does what only says of itself how it is encoded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel

from encoder import Episode, EvalRunInfo, EvalWorkInfo, Trace, TrainRunInfo, TrainWorkInfo
from encoder.pacer import Pacer
from encoder.turns import TURNS

RunKind = Literal["train", "eval"]
RunInfo = TrainRunInfo | EvalRunInfo

_TRACES_AT_ONCE: Final = 50
"""Stand-ins made between two looks at the clock: a tenth of a millisecond."""


class Identity:
    """Gives records a run's identity.

    Attributes:
        kind: whether the run trains or evaluates.
        run_id: its id.
        work: what records of a training run are for, where they do not say so.
    """

    def __init__(self, kind: RunKind, run_id: str, work: RunKind = "train") -> None:
        self.kind: RunKind = kind
        self.run_id = run_id
        self.work: RunKind = work

    def preparer(self, step: int | None, work: RunKind = "train") -> Callable[[Any], Any]:
        """A function that makes the stand-in of a record which was logged with this step, for this kind of work."""
        identity = self if work == self.work else Identity(self.kind, self.run_id, work)

        def prepare(record: Any) -> Any:
            return identity.stand_in(record, step)

        return prepare

    def stand_in(self, record: Any, step: int | None = None) -> Any:
        """What is to be encoded for a record, on the thread that encodes.

        Args:
            record: an episode or a trace, in any form.
            step: of a training run, for records that do not say theirs.
        """
        if isinstance(record, Episode | Trace):
            return self._model(record, step)
        if isinstance(record, Mapping):
            return self._mapping(record, step)
        if _says_nothing_itself(record):
            return self._mapping(record.to_record(), step)
        return record

    def _model(self, record: Episode[Any] | Trace[Any], step: int | None) -> Any:
        run = self._info(record.run, step)
        if isinstance(record, Trace):
            return record.model_copy(update={"run": run})
        traces = list(_paced(lambda trace: self._member(trace, run), record.traces))
        members = traces if isinstance(record.traces, list) else type(record.traces)(traces)
        return record.model_copy(update={"run": run, "traces": members})

    def _member(self, trace: Any, run: RunInfo) -> Any:
        if isinstance(trace, Mapping):  # the episode was built without validation
            return self._mapped_member(trace, _mapped(run))
        own = trace.run
        return trace.model_copy(update={"run": run if own is None else self._info(own, None, run)})

    def _info(self, own: Any, step: int | None, episode: RunInfo | None = None) -> RunInfo:
        """What a record says of its run, with our id and type."""
        name, work = _field(own, "name"), _field(own, "work")
        if episode is not None:
            name = episode.name if name is None else name
            work = getattr(episode, "work", None) if work is None else work
        if self.kind == "eval":
            return EvalRunInfo(id=self.run_id, name=name)
        if work is None:
            work = (EvalWorkInfo if self.work == "eval" else TrainWorkInfo)(step=step or 0)
        return TrainRunInfo(id=self.run_id, name=name, work=work)

    def _mapping(self, record: Mapping[str, Any], step: int | None) -> dict[str, Any]:
        run = self._rekeyed(record.get("run"), step)
        stand_in = {**record, "run": run}
        traces = record.get("traces")
        if isinstance(traces, Sequence) and not isinstance(traces, str | bytes):
            stand_in["traces"] = list(_paced(lambda trace: self._mapped_member(trace, run), traces))
        return stand_in

    def _mapped_member(self, trace: Any, run: dict[str, Any]) -> Any:
        if isinstance(trace, Mapping):
            return {**trace, "run": self._rekeyed(trace.get("run"), None, run)}
        if isinstance(trace, Trace):
            return self._member(trace, self._info(run, None))
        return trace

    def _rekeyed(self, own: Any, step: int | None, episode: Mapping[str, Any] | None = None) -> dict[str, Any]:
        kept = _mapped(own) if isinstance(own, BaseModel) else own if isinstance(own, Mapping) else {}
        run = {**(episode or {}), **{name: value for name, value in kept.items() if value is not None}}
        run |= {"type": self.kind, "id": self.run_id}
        if self.kind == "eval":
            run.pop("work", None)
        elif run.get("work") is None:
            run["work"] = {"type": self.work, "step": step or 0}
        return run


def _field(own: Any, name: str) -> Any:
    return own.get(name) if isinstance(own, Mapping) else getattr(own, name, None)


def _mapped(run: BaseModel) -> dict[str, Any]:
    return run.model_dump(mode="json", exclude_none=True)


def _says_nothing_itself(record: Any) -> bool:
    """Whether it is an object whose record is known only by `to_record`."""
    ways = [callable(getattr(record, name, None)) for name in ("iter_json", "to_json", "to_record")]
    return ways == [False, False, True]


def _paced(make: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Make something of each item; of many, giving way as often as the encoder does."""
    if len(items) <= _TRACES_AT_ONCE:
        yield from map(make, items)
        return
    pacer = Pacer()
    with TURNS.turn() as turn:
        for start in range(0, len(items), _TRACES_AT_ONCE):
            yield from map(make, items[start : start + _TRACES_AT_ONCE])
            if pacer.pause_if_due():
                turn.let_others()
