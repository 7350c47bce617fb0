"""A large dict that changes while its members are gone through: what can be told is, what cannot is an error."""

import pytest

from encoder.writers.base import KEYS_AT_ONCE
from encoder.writers.snapshots import members_of


def test_members_go_on_after_the_last_one_that_was_seen() -> None:
    value = {key: -key for key in range(KEYS_AT_ONCE + 10)}
    members = iter(members_of(value, len(value)))
    seen = [next(members), next(members)]
    value[-1] = 0
    assert [*seen, *members] == [(key, -key) for key in range(KEYS_AT_ONCE + 10)]


def test_nobody_knows_how_to_go_on_after_a_member_that_is_gone() -> None:
    value = dict.fromkeys(range(KEYS_AT_ONCE + 10))
    members = iter(members_of(value, len(value)))
    key, _ = next(members)
    del value[key]
    with pytest.raises(RuntimeError, match="changed"):
        next(members)
