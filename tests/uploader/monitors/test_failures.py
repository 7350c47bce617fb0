"""What went wrong, said once for each kind."""

import pytest

from uploader.monitors.failures import Failures


def test_each_kind_is_said_once_and_all_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    failures = Failures("The monitor X")
    assert (failures.count, failures.last) == (0, None)
    for error in (OSError("a"), OSError("b"), ValueError("c")):
        failures.note("its flush", error)
    failures.note("its start", OSError("d"))
    assert failures.count == 4
    assert failures.last == "its start: OSError: d"
    assert [record.exc_info[1].args for record in caplog.records if record.exc_info] == [("a",), ("c",), ("d",)]  # type: ignore[union-attr]
