"""Write a small record by one call: steps, and whose turn it is, would cost more than the record does."""

from typing import Final

import orjson
from pydantic import BaseModel

from encoder.compiled import IS_COMPILED, native
from encoder.gaps import is_watched
from encoder.pacer import thread_pacer
from encoder.paths import PATHS
from encoder.plan import Plan, plan_of
from encoder.pumps import whole
from encoder.schema import is_model
from encoder.splicer import dump_whole, refuse, splice_tree_into
from encoder.writers.base import MAX_DEPTH, Unwritable, Variant
from encoder.writers.calls import dumps
from encoder.writers.left import are_light

# What the compiled part may spend on the attempt, in the nanoseconds that `native/node.h` counts. A record of more is
# written in steps, from its beginning: what was tried in vain is a small part of that.
_MOST_COST: Final = 24 * 1024

_VARIANT: Final[Variant] = (False, None)


def small_json(model: BaseModel) -> bytes | None:
    """What is written for a small model without any arguments; None where it is not small, or not known exactly.

    It holds the GIL for some tens of microseconds, and gives way where that comes on top of what went before.

    Raises:
        EncodeError: a value cannot be written.
    """
    if not (IS_COMPILED and PATHS.compiled and PATHS.simple_forms and is_model(model)) or is_watched():
        return None
    plan = plan_of(type(model))
    if plan is None:
        return None
    text = _by_node(plan, model) or _by_pydantic(plan, model)
    if text is not None:
        pacer = thread_pacer()
        pacer.pause_if_due()
        pacer.leave()
    return text


def _by_node(plan: Plan, model: BaseModel) -> bytes | None:
    """What the compiled part writes."""
    node = plan.node(_VARIANT)
    if node is None:
        return None
    try:
        text, _ = native.write_row(
            node, [model], None, 0, 1, _MOST_COST, _MOST_COST, MAX_DEPTH, {}, orjson.dumps, None, False
        )
    except Exception:  # noqa: BLE001 - whatever it is, it is told where the record is written in steps
        return None
    return text


def _by_pydantic(plan: Plan, model: BaseModel) -> bytes | None:
    """What pydantic and orjson make of a light record with parts that only pydantic knows how to write."""
    most = plan.most_left()
    if not most or not are_light([model], most):
        return None
    try:
        tree = dump_whole(model, {})
        if are_light([tree]):
            return dumps(tree, 0)
    except Unwritable as error:
        refuse(error)
    return whole(lambda out: splice_tree_into(out, tree))
