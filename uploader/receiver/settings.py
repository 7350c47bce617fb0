"""Everything that can be set on a receiver, with the contract's limits as defaults."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uploader.receiver.errors import UnusableSettingError

KIB: Final = 1024
MIB: Final = 1024 * KIB
#: The environment's name for the key, so that it need not stand in the list of processes.
API_KEY_VARIABLE: Final = "UPLOADER_RECEIVER_API_KEY"


@dataclass(frozen=True, kw_only=True)
class ReceiverSettings:
    """How one receiver behaves.

    Attributes:
        data_dir: where everything is stored; created when missing.
        api_key: the bearer token that every request needs; None lets everyone in.
        max_request_bytes: uncompressed bytes of one upload.
        max_line_bytes: bytes of one line, its LF not counted.
        max_lines: lines of one upload.
        max_traces_per_episode: member traces of one episode line.
        max_id_bytes: UTF-8 bytes of a trace, episode or environment id.
        max_metadata_bytes: bytes of the metadata part.
        max_requests_in_flight: uploads taken at once; more are refused before any work.
        workers: uploads checked at once, and so the lines held in memory.
        retry_after_s: what a refused producer is told to wait.
        body_timeout_s: longest silence of a producer within a body.
        hold_upload_s: pause before each upload is checked, for tests that need overlapping requests.

    Raises:
        UnusableSettingError: the key is empty, which is a variable that was never set rather than a wish to let
            everyone in; or white space surrounds it, which no request could match.
    """

    data_dir: Path
    api_key: str | None = None
    max_request_bytes: int = 256 * MIB
    max_line_bytes: int = 64 * MIB
    max_lines: int = 1_000_000
    max_traces_per_episode: int = 4096
    max_id_bytes: int = 256
    max_metadata_bytes: int = 64 * KIB
    max_requests_in_flight: int = 32
    workers: int = min(4, os.cpu_count() or 1)
    retry_after_s: int = 1
    body_timeout_s: float = 60.0
    hold_upload_s: float = 0.0

    def __post_init__(self) -> None:
        if self.api_key is not None:
            if not self.api_key:
                raise UnusableSettingError("api_key", "it is empty: give a key, or none at all to let everyone in")
            if self.api_key != self.api_key.strip():
                raise UnusableSettingError("api_key", "it begins or ends with white space, which no request can match")
