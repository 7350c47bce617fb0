"""Opening a run: the settings are checked, the platform is asked where there is one, and the run begins."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, get_args

import httpx

from uploader.arguments import check_hook, check_transport, usable_path, usable_text
from uploader.clock import get_clock
from uploader.config import DEFAULT_URL, Config, load_config
from uploader.errors import APIError, ConfigurationError, RunError
from uploader.runs.arguments import usable_seconds
from uploader.runs.background import be_ready_for_exit
from uploader.runs.closing import RunParts
from uploader.runs.courier import Courier, open_on_platform
from uploader.runs.identity import Identity, RunKind
from uploader.runs.lifecycle import Lifecycle, LocalLifecycle, PlatformLifecycle
from uploader.runs.live import Mode, OnError
from uploader.runs.metrics import MetricsQueue
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.platform import PLATFORM_VARIABLE, Opened, Platform, configured_platform
from uploader.runs.resuming import addresses_of
from uploader.runs.run import Run
from uploader.runs.spec import RunSpec, run_spec
from uploader.runs.worker_port import RunWorker
from uploader.runs.workers import NoWorker, WorkerChoices, open_worker
from uploader.sinks.choosing import SinkChoice, choose_sinks, needs_key
from uploader.spool.names import METRICS, UNTOLD, quote_run
from uploader.spool.places import default_spool
from uploader.worker.settings import new_run_id

logger = logging.getLogger(__name__)

LifecycleChoice = Literal["auto", "platform", "local"]

DEFAULT_FINISH_TIMEOUT_S: Final = 60.0
OPEN_TIMEOUT_S: Final = 15.0
"""How long `init` waits for the platform."""
_MAX_ID_BYTES: Final = 256


class Place(Enum):
    """Where a spool is when nobody says."""

    DEFAULT = "default"


@dataclass(frozen=True)
class _Choices:
    """How a run goes about it, checked."""

    mode: Mode
    on_error: OnError
    lifecycle: LifecycleChoice
    run_id: str | None
    spool: Path | None
    finish_timeout_s: float


def init(
    *,
    kind: RunKind = "train",
    name: str | None = None,
    id: str | None = None,  # noqa: A002 - it is what everybody calls it
    model: str | None = None,
    environments: Sequence[str | Mapping[str, Any]] | None = None,
    tags: Sequence[str] | None = None,
    config: Mapping[str, Any] | None = None,
    mode: Mode = "online",
    on_error: OnError = "warn",
    finish_timeout: float = DEFAULT_FINISH_TIMEOUT_S,
    api_key: str | None = None,
    base_url: str | None = None,
    team_id: str | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    sinks: Sequence[SinkChoice] | None = None,
    spool: str | os.PathLike[str] | Place | None = Place.DEFAULT,
    max_queued_records: int | None = None,
    max_queued_bytes: int | None = None,
    max_in_flight: int | None = None,
    max_spool_bytes: int | None = None,
    min_free_disk_bytes: int | None = None,
    lifecycle: LifecycleChoice = "auto",
    on_event: Callable[[Any], object] | None = None,
) -> Run:
    """Open a run. Only where the platform is to know it is there a request, of 15 s at most.

    Args:
        kind: `train` or `eval`.
        name: for people.
        id: of a run that was opened before; by default a new one is opened.
        model: that is trained or evaluated.
        environments: ids, or mappings with an `id`.
        tags: labels of an evaluation.
        config: the run's settings; of a training run the platform shows `max_steps`, `batch_size`,
            `rollouts_per_example` and `seq_len`.
        mode: `online`; `offline`: all goes to the spool, and `uploader spool resume` sends it; or `disabled`.
        on_error: `warn`, or `raise` what is lost from `flush` and `finish`.
        finish_timeout: seconds that `finish` may take.
        api_key: the bearer token, instead of PRIME_API_KEY.
        base_url: the service's address, instead of PRIME_TRACES_URL and PRIME_API_BASE_URL.
        team_id: the team, instead of PRIME_TEAM_ID.
        transport: an httpx transport to use instead of the network.
        sinks: where episodes and traces go: `traces`, which is the service; addresses like `s3://bucket/prefix`;
            folders; or sinks, each with a name of its own. By default the service alone.
        spool: the folder of what is not sent yet; None for none: what is not sent is lost with the process, what is set
            aside is in the report alone, and a run that no platform knows takes no metrics. By default the folder for
            such things of this user.
        max_queued_records: the most records that wait for the encoder; 10,000.
        max_queued_bytes: the most bytes that these make once encoded; half of the physical memory.
        max_in_flight: the most requests at once; 8.
        max_spool_bytes: the most compressed bytes that wait in the spool, over all runs; 50 GB.
        min_free_disk_bytes: how much of the spool's disk stays free; 1 GB.
        lifecycle: who knows the run: the `platform`; this machine alone, `local`; or `auto`: the platform where
            `base_url` or PRIME_API_BASE_URL says which, and what cannot be opened there is local.
        on_event: called with each of the worker's events, in a thread of its own.

    Raises:
        ConfigurationError: an argument or a setting cannot be used.
        RunError: the platform did not open the run, and errors are to be raised.
        SpoolError: the spool cannot be used, and errors are to be raised or the run is offline.
    """
    choices = _checked(mode, on_error, lifecycle, id, spool, finish_timeout)
    check_transport(transport, "handle_async_request")
    check_hook("on_event", on_event)
    settings = load_config(api_key, base_url, team_id)
    chosen = [] if choices.mode == "disabled" else choose_sinks(sinks, settings, transport)
    spec = run_spec(kind, name, model, environments, tags, config, settings.team_id)
    courier = _courier(choices, settings, base_url, transport)
    if choices.mode == "online" and (courier is not None or needs_key(chosen)):
        settings.headers()  # says so if there is no key
    opened = None if courier is None else _opened(choices, spec, courier)
    if opened is None or courier is None:
        opened, courier = Opened(choices.run_id or new_run_id(), spec.name), None
        logger.info("Run %s is local: no platform knows it", opened.id)
    folder = None if choices.spool is None else choices.spool / quote_run(opened.id)
    log, untold = (None, None) if folder is None else (MetricsLog(folder / METRICS), MetricsLog(folder / UNTOLD))
    known: Lifecycle = LocalLifecycle(opened, log, is_disabled=choices.mode == "disabled")
    if courier is not None:
        known = PlatformLifecycle(opened, spec.kind, courier, log, untold)
    limits = WorkerChoices(
        run_id=opened.id,
        spool=choices.spool,
        max_queued_records=max_queued_records,
        max_queued_bytes=max_queued_bytes,
        max_in_flight=max_in_flight,
        max_spool_bytes=max_spool_bytes,
        min_free_disk_bytes=min_free_disk_bytes,
        on_event=on_event,
    )
    worker: RunWorker = NoWorker()
    if choices.mode != "disabled":
        must_have = choices.on_error == "raise"
        worker = open_worker(choices.mode, chosen, limits, must_have_spool=must_have)
    metrics = MetricsQueue(known.deliver, "uploader-metrics", known.no_place)
    if choices.mode != "disabled":
        worker.begin()
        metrics.start()
        be_ready_for_exit()
    platform = None if courier is None else courier.platform.config
    addresses = addresses_of(sinks, chosen, platform, settings, base_url, team_id)
    parts = RunParts(known, worker, metrics, Identity(spec.kind, opened.id), log, choices.spool, addresses)
    return Run(parts, spec.kind, choices.mode, choices.on_error, choices.finish_timeout_s)


def _checked(mode: Any, on_error: Any, lifecycle: Any, run_id: Any, spool: Any, finish_timeout: Any) -> _Choices:
    for option, value, allowed in (
        ("mode", mode, get_args(Mode)),
        ("on_error", on_error, get_args(OnError)),
        ("lifecycle", lifecycle, get_args(LifecycleChoice)),
    ):
        if value not in allowed:
            raise ConfigurationError(option, f"it must be {', '.join(map(repr, allowed))}, not {value!r}")
    if run_id is not None and not 0 < len(usable_text("id", run_id).encode()) <= _MAX_ID_BYTES:
        raise ConfigurationError("id", f"it must have 1 to {_MAX_ID_BYTES} bytes")
    if mode == "offline" and spool is None:
        raise ConfigurationError("spool", "an offline run keeps everything there: give a folder, or leave it out")
    if spool is Place.DEFAULT:
        spool = None if mode == "disabled" else default_spool()
    elif spool is not None:
        spool = None if mode == "disabled" else Path(usable_path("spool", spool)).absolute()
    return _Choices(mode, on_error, lifecycle, run_id, spool, usable_seconds("finish_timeout", finish_timeout))


def _courier(
    choices: _Choices, settings: Config, base_url: str | None, transport: httpx.AsyncBaseTransport | None
) -> Courier | None:
    """What asks the platform; None where the run is to be local."""
    configured = base_url or os.environ.get(PLATFORM_VARIABLE)
    if choices.mode != "online" or choices.lifecycle == "local" or (choices.lifecycle == "auto" and not configured):
        return None
    if base_url is None:
        settings = replace(settings, base_url=configured_platform() or DEFAULT_URL)
    return Courier(Platform(settings, get_clock().jitter), transport)


def _opened(choices: _Choices, spec: RunSpec, courier: Courier) -> Opened | None:
    """The run on the platform; None if it is not there, which has been said."""
    if choices.run_id is not None:
        return Opened(choices.run_id, spec.name)
    problem: Exception | None = spec.obstacle
    if problem is not None and choices.lifecycle == "platform":
        raise problem
    if problem is None:
        try:
            return open_on_platform(courier, spec, OPEN_TIMEOUT_S)
        except (APIError, TimeoutError) as error:
            problem = error
            if choices.on_error == "raise":
                raise RunError("(new)", f"the platform did not open it: {error}") from error
    logger.warning("The platform did not open the run, so it gets a local id: %s", problem)
    return None
