"""Which of many equal processes logs."""

import pytest

from uploader.monitors.ranks import is_first_rank


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, True),
        ({"RANK": "0"}, True),
        ({"RANK": " 0 ", "DP_RANK": "00"}, True),
        ({"RANK": "1"}, False),
        ({"DP_RANK": "3"}, False),
        ({"RANK": "0", "DP_RANK": "1"}, False),
        ({"RANK": "1", "DP_RANK": "0"}, False),
        ({"RANK": "", "DP_RANK": "first"}, True),
        ({"LOCAL_RANK": "1"}, True),
    ],
)
def test_the_first_rank_logs(environment: dict[str, str], expected: bool) -> None:
    assert is_first_rank(environment) is expected
