"""Generated classes, generated values, generated dump arguments: the same bytes, or the same refusal."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from typing import Any

from hypothesis import given

from tests.encoder.oracle import assert_same
from tests.encoder.specs import dump_arguments
from tests.encoder.strategies import models, oracle_settings
from tests.encoder.values import Make


@oracle_settings(120)
@given(models(depth=1), dump_arguments(filters=False))
def test_generated_models(make: Make, arguments: dict[str, Any]) -> None:
    assert_same(make, **arguments)


@oracle_settings(120)
@given(models(depth=2), dump_arguments())
def test_generated_models_with_filters(make: Make, arguments: dict[str, Any]) -> None:
    assert_same(make, **arguments)
