"""Ctrl-C, and a service that goes away, half-way through an upload; with real processes."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.uploader.cli.conftest import KEY, Ran, start, trace_line
from tests.uploader.cli.test_upload import upload_ids
from uploader import TracesClient
from uploader.receiver import ReceiverProcess

LINES = 20


@pytest.fixture
def many(write: Callable[[str, bytes], Path]) -> Path:
    return write("many.jsonl", b"".join(trace_line(f"many-{number}") for number in range(LINES)))


def test_ctrl_c(many: Path, tmp_path: Path) -> None:
    """Requests in flight end, the receipts so far are printed: exactly what the service has."""
    with ReceiverProcess(tmp_path / "data", KEY, hold_upload_s=0.2) as receiver:
        process = start(
            "upload", many, "--batch-bytes", 1, "--max-in-flight", 2, PRIME_API_KEY=KEY, PRIME_TRACES_URL=receiver.url
        )
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        ran = Ran(process.returncode, out, first + err)
        with TracesClient(KEY, receiver.url, "") as client:
            stored = {trace.upload_id for trace in client.iter()}
    assert ran.code == 130
    assert "requests in flight end first" in ran.err
    assert set(upload_ids(ran)) == stored
    assert 1 <= len(stored) < LINES
    assert "interrupted" in ran.out
    assert "Traceback" not in ran.err
    assert KEY not in ran.out + ran.err


def test_a_service_that_goes_away(many: Path, tmp_path: Path) -> None:
    """What was committed before is printed all the same."""
    with ReceiverProcess(tmp_path / "data", KEY, hold_upload_s=0.2) as receiver:
        process = start(
            *("upload", many, "--batch-bytes", 1, "--max-in-flight", 2, "--max-attempts", 1),
            PRIME_API_KEY=KEY,
            PRIME_TRACES_URL=receiver.url,
        )
        assert process.stderr is not None
        first = process.stderr.readline()
        receiver.kill()
        out, err = process.communicate(timeout=60)
    ran = Ran(process.returncode, out, first + err)
    assert ran.code == 3
    assert 1 <= len(upload_ids(ran)) < LINES
    assert "were not stored: no answer from" in ran.err or "was not stored: no answer from" in ran.err


def test_ctrl_c_during_the_quickstart(tmp_path: Path) -> None:
    """The receiver and all that it stored are gone."""
    process = start("quickstart", "--episodes", 2, TMPDIR=str(tmp_path))
    assert process.stderr is not None
    assert process.stderr.readline() == "making episodes: 2 of 2\n"
    assert process.stderr.readline() == "encoding, the plain way: 2 of 2\n"  # inside the event loop
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
