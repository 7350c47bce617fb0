"""Schemas that pydantic does not make today are opaque, so that their values are left to it."""

from typing import Any

import pytest
from pydantic import BaseModel

from encoder.schema import Schemas, root_schema
from encoder.shapes import Resolved


class Plain(BaseModel):
    a: int = 1


def schemas() -> Schemas:
    schema = root_schema(Plain)
    assert schema is not None
    return Schemas(Plain, schema)


def serialized(**serialization: Any) -> dict[str, Any]:
    return {"type": "any", "serialization": {"type": "function-plain", "function": repr, **serialization}}


def test_a_reference_that_leads_nowhere_is_opaque() -> None:
    assert schemas().resolve({"type": "definition-ref", "schema_ref": "gone"}).kind == "opaque"


def test_references_that_lead_to_each_other_are_opaque() -> None:
    loop: dict[str, Any] = {"type": "nullable"}
    loop["schema"] = loop
    assert schemas().resolve(loop).kind == "opaque"


@pytest.mark.parametrize("inner", [{"type": "any"}, {"type": "nullable", "schema": {"type": "model-fields"}}])
def test_a_model_of_no_fields_has_no_shape(inner: dict[str, Any]) -> None:
    assert schemas().shape(Resolved("model", {"type": "model", "cls": Plain, "schema": inner}, False)) is None


def test_a_serializer_is_known_where_it_speaks_for_json() -> None:
    assert schemas().resolve(serialized(when_used="json")).function is repr
    assert schemas().resolve(serialized()).function is repr
    for unknown in ({"when_used": "never"}, {"is_field_serializer": True}, {"type": "function-wrap"}):
        found = schemas().resolve(serialized(**unknown))
        assert (found.kind, found.function) == ("opaque", None)
