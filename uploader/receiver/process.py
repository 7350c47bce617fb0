"""A receiver in a process of its own, for tests, benchmarks and the quickstart."""

import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from uploader.receiver.errors import ReceiverStartError
from uploader.receiver.settings import API_KEY_VARIABLE


class ReceiverProcess:
    """Starts `python -m uploader.receiver` and ends it; a context manager.

        with ReceiverProcess(tmp_path) as receiver:
            client = TracesClient(api_key="any", base_url=receiver.url)

    Attributes:
        url: where it listens.
        pid: its process id.

    Raises:
        ReceiverStartError: it ended, or printed no URL in time.
    """

    def __init__(
        self,
        data_dir: Path | str,
        api_key: str | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        log_level: str = "error",
        start_timeout_s: float = 30.0,
        **settings: float,
    ) -> None:
        """Start a receiver and wait until it accepts connections.

        Args:
            data_dir: where it stores.
            api_key: the token it asks for, None for none; it stays out of the list of processes.
            host: where it listens.
            port: 0 picks a free one.
            log_level: of its standard error, which is ours.
            start_timeout_s: how long it may take.
            settings: further fields of `ReceiverSettings`, such as `max_requests_in_flight`.
        """
        command = [sys.executable, "-m", "uploader.receiver", "--data-dir", os.fspath(data_dir)]
        command += ["--host", host, "--port", str(port), "--log-level", log_level]
        for name, value in settings.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        environment = {name: value for name, value in os.environ.items() if name != API_KEY_VARIABLE}
        if api_key is not None:
            environment[API_KEY_VARIABLE] = api_key
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment
        )
        self.pid = self._process.pid
        try:
            self.url = self._read_url(start_timeout_s)
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def stop(self, timeout_s: float = 20.0) -> int:
        """Ask it to end, as an operator would, and wait; kill it when that takes too long.

        Returns:
            Its exit code, 0 for an orderly end.
        """
        self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._ended()

    def kill(self) -> None:
        """End it without a warning, as a power cut would."""
        self._process.kill()
        self._ended()

    def _ended(self) -> int:
        code = self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code

    def _read_url(self, timeout_s: float) -> str:
        stdout = self._process.stdout
        if stdout is None:  # pragma: no cover - it is a pipe
            raise ReceiverStartError(None)
        # A pipe can't be read with a time-out everywhere, a queue can.
        first_line: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=lambda: first_line.put(stdout.readline()), daemon=True).start()
        try:
            line = first_line.get(timeout=timeout_s)
        except queue.Empty:
            raise ReceiverStartError(None) from None
        if not line:
            raise ReceiverStartError(self._process.wait())
        return line.decode().strip()
