"""What an upload can be told, checked once for both clients."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

import orjson

from uploader.arguments import check_hook
from uploader.errors import ConfigurationError, RecordFailure
from uploader.limits import DEFAULT_MAX_ATTEMPTS, DEFAULT_TARGET_BATCH_BYTES, MAX_IN_FLIGHT
from uploader.models import Batch, LineFormat, UploadReceipt
from uploader.retry import RetryPolicy, Sleep

RecordHook: TypeAlias = Callable[[RecordFailure], Any]
"""Called with the error of a record that was set aside."""


class UploadArguments(TypedDict, total=False):
    """The keyword arguments of every upload method.

    Attributes:
        line_format: what a line holds, "trace" (the default) or "episode".
        context: names and values that the service keeps with each trace of the upload.
        schema_version: the version of the record schema, by default 1.
        compress: False, True (gzip level 1, the default) or a gzip level.
        target_batch_bytes: the uncompressed bytes at which a batch closes, by default 30 MiB.
        max_attempts: how often each request is tried, by default 5.
        max_in_flight: how many requests are under way at most, by default 8, which is the service's limit.
        on_batch: called with each stored batch and its receipt, in batch order; never from another thread.
        on_retry: called with each failed attempt that will be repeated; never from another thread.
    """

    line_format: LineFormat | Literal["trace", "episode"]
    context: Mapping[str, str] | None
    schema_version: int
    compress: bool | int
    target_batch_bytes: int
    max_attempts: int
    max_in_flight: int
    on_batch: Callable[[Batch, UploadReceipt], Any] | None
    on_retry: Callable[[Sleep], Any] | None


@dataclass(frozen=True)
class UploadOptions:
    """The checked options of one upload.

    Attributes:
        line_format: what a line holds.
        metadata: the `metadata` part, encoded.
        policy: when to try again.
        compress: for the compressor.
        target_batch_bytes: for the sealer.
        max_in_flight: how many requests at most.
        on_batch: the caller's hook, or None.
        on_retry: the caller's hook, or None.
    """

    line_format: LineFormat
    metadata: bytes
    policy: RetryPolicy
    compress: bool | int
    target_batch_bytes: int
    max_in_flight: int
    on_batch: Callable[[Batch, UploadReceipt], Any] | None
    on_retry: Callable[[Sleep], Any] | None

    @property
    def headers(self) -> dict[str, str]:
        """CONTRACT: the line format is absent for bare traces."""
        return {"X-Prime-Line-Format": "episode"} if self.line_format is LineFormat.EPISODE else {}


def upload_options(arguments: UploadArguments) -> UploadOptions:
    """Check the arguments of an upload and fill in what is missing.

    Raises:
        ConfigurationError: a value cannot be used.
        TypeError: there is no such argument.
    """
    unknown = sorted(arguments.keys() - UploadArguments.__annotations__.keys())
    if unknown:
        raise TypeError(f"uploads take no argument {', '.join(unknown)}")
    max_in_flight = _integer("max_in_flight", arguments.get("max_in_flight", MAX_IN_FLIGHT), 1)
    if max_in_flight > MAX_IN_FLIGHT:
        raise ConfigurationError(
            "max_in_flight", f"the service takes at most {MAX_IN_FLIGHT} requests at once from one producer"
        )
    for name in ("on_batch", "on_retry"):
        check_hook(name, arguments.get(name))
    return UploadOptions(
        line_format=_line_format(arguments.get("line_format", LineFormat.TRACE)),
        metadata=_metadata(arguments.get("schema_version", 1), arguments.get("context")),
        policy=RetryPolicy(
            max_attempts=_integer("max_attempts", arguments.get("max_attempts", DEFAULT_MAX_ATTEMPTS), 1)
        ),
        compress=arguments.get("compress", True),
        target_batch_bytes=_integer(
            "target_batch_bytes", arguments.get("target_batch_bytes", DEFAULT_TARGET_BATCH_BYTES), 1
        ),
        max_in_flight=max_in_flight,
        on_batch=arguments.get("on_batch"),
        on_retry=arguments.get("on_retry"),
    )


def _line_format(value: str) -> LineFormat:
    try:
        return LineFormat(value)
    except ValueError:
        formats = " or ".join(LineFormat)
        raise ConfigurationError("line_format", f"it must be {formats}, not {value!r}") from None


def _metadata(schema_version: int, context: Mapping[str, str] | None) -> bytes:
    """CONTRACT: `{"schema_version": 1, "context": {str: str}}`, the context left out when empty."""
    metadata: dict[str, Any] = {"schema_version": _integer("schema_version", schema_version, 1)}
    if context is not None and not isinstance(context, Mapping):
        raise ConfigurationError("context", f"it must be a mapping, not {type(context).__name__}")
    if context:
        for name, value in context.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise ConfigurationError("context", f"names and values must be strings; {name!r} is not")
        metadata["context"] = dict(context)
    try:
        return orjson.dumps(metadata)
    except TypeError:
        raise ConfigurationError("context", "it holds text that is not valid Unicode") from None


def _integer(option: str, value: object, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigurationError(option, f"it must be an integer, not {type(value).__name__}")
    if not minimum <= value < 2**63:
        raise ConfigurationError(option, f"it must be at least {minimum} and fit 64 bits, not {value}")
    return value
