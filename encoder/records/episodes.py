"""Episodes: one rollout of an environment, with every agent's trace."""

import uuid
from collections.abc import Generator
from typing import ClassVar, Final, Generic

from pydantic import Field, computed_field

from encoder.records.counting import LengthOf, Memo, counts_in_steps, has_own_counts
from encoder.records.outcomes import Error
from encoder.records.record import Record
from encoder.records.runs import EnvInfo, GroupInfo, RunInfo
from encoder.records.tasks import DataT, TraceTask
from encoder.records.traces import Trace
from encoder.tokens import TokenCounts

# Traces whose counts are added up in one step, if they are known: a microsecond each.
_TRACES_AT_ONCE: Final = 100


class Episode(Record, Generic[DataT]):
    """One rollout of an environment. Its record leaves out every field that is None, at every depth.

    A bare `Episode` takes any `TaskData`, writes each instance with the fields of its class, and reads JSON into a
    `TaskData` that keeps unknown keys; `Episode[MyTaskData]` reads into `MyTaskData`.
    """

    _leaves_out_none: ClassVar[bool] = True

    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    env: EnvInfo = Field(default_factory=EnvInfo)
    task: TraceTask[DataT]
    group: GroupInfo | None = None
    run: RunInfo | None = None
    ok: bool = False
    is_timeout: bool = False
    errors: list[Error] = Field(default_factory=list)
    traces: list[Trace[DataT]] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def num_input_tokens(self) -> int:
        """The sum over the traces."""
        return sum(trace.num_input_tokens for trace in self.traces)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def num_output_tokens(self) -> int:
        """The sum over the traces."""
        return sum(trace.num_output_tokens for trace in self.traces)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def num_total_tokens(self) -> int:
        """The sum over the traces."""
        return sum(trace.num_total_tokens for trace in self.traces)

    def record_run(self, run: RunInfo) -> None:
        """Say which run the episode belongs to, on it and on each of its traces."""
        self.run = run
        for trace in self.traces:
            trace.run = run

    def __encoder_computed__(self, memo: Memo, length_of: LengthOf) -> Generator[None, None, dict[str, object]]:
        """Return the computed fields above for the encoder, which gives way at each yield."""
        total = TokenCounts()
        traces = self.traces[: length_of(self.traces)]
        if any(has_own_counts(cls, Trace) for cls in set(map(type, traces))):
            return {}  # the encoder reads the properties instead
        for position, trace in enumerate(traces, start=1):
            total = total.plus((yield from counts_in_steps(trace, memo)))
            if not position % _TRACES_AT_ONCE:
                yield None
        return dict(total._asdict())
