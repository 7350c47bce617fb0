"""Generated pydantic model classes, with instances of them, right and wrong ones.

A class is drawn as a `Species`: the class and the kinds of its fields. Names come from small pools, so that aliases,
extras, computed fields and the specs of `tests.encoder.specs` meet often.
"""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import copy
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    computed_field,
    create_model,
    field_serializer,
    model_serializer,
)

from tests.encoder import values, zoo
from tests.encoder.kinds import Kind, kinds, nested
from tests.encoder.seen import facts
from tests.encoder.values import Make, Makes

FIELD_NAMES = ["a", "b", "c", "d", "e"]
EXTRA_NAMES = ["x1", "x2", "a", "c", "f", 'we "ird"\n', "A"]
ALIASES = ["A", "B", "b", "x1", "f", "", 'q"uote\\', "\u00e9\x01", "\U0001f600"]
FUZZ = int(os.environ.get("UNSTALL_FUZZ", "1"))
serial = itertools.count()


def oracle_settings(max_examples: int) -> settings:
    """Hypothesis settings of these suites: no deadline, stable under CI; UNSTALL_FUZZ multiplies the examples."""
    return settings(
        max_examples=max_examples * FUZZ,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


@dataclass(frozen=True)
class Species:
    """A generated class and the kinds of its fields, by name."""

    cls: type[BaseModel]
    fields: dict[str, Kind]


# ---- serializers, computed fields: fixed functions, so that what they do is theirs and not the test's


def _plain(self: Any, value: Any) -> Any:
    return [type(value).__name__, repr(value) if isinstance(value, int | str) else None]


def _plain_same(self: Any, value: Any) -> Any:
    return value


def _plain_none(self: Any, value: Any) -> Any:
    return None


def _plain_facts(self: Any, value: Any, info: Any) -> Any:
    return facts(info)


def _plain_typed(self: Any, value: Any) -> str:
    return "typed"


def _plain_wrong(self: Any, value: Any) -> int:
    return "not an int"


def _plain_mutating(self: Any, value: Any) -> Any:
    self.__dict__["e"] = "changed"
    return value


def _wrap(self: Any, value: Any, handler: Any) -> Any:
    return {"wrapped": handler(value)}


def _wrap_facts(self: Any, value: Any, handler: Any, info: Any) -> Any:
    return [handler(value), facts(info)]


def _failing(self: Any, value: Any) -> Any:
    raise ValueError("this serializer always fails")


PLAIN = [_plain, _plain_same, _plain_none, _plain_facts, _plain_typed, _plain_wrong, _plain_mutating]
WRAP = [_wrap, _wrap_facts]


def _model_plain(self: Any, info: Any) -> Any:
    return {"fields": list(self.__dict__), **facts(info)}


def _model_wrap(self: Any, handler: Any, info: Any) -> Any:
    return {"before": 1, "inner": handler(self), **facts(info)}


def _model_wrap_flat(self: Any, handler: Any) -> Any:
    return handler(self)


def _int_value(self: Any) -> int:
    return len(self.__dict__)


def _none_value(self: Any) -> int | None:
    return None


def _model_value(self: Any) -> zoo.Leaf:
    return zoo.LeafChild(a=5)


def _any_value(self: Any) -> Any:
    return {"a": [self.__dict__.get("e"), 2.5], "b": zoo.LeafChild()}


def _list_value(self: Any) -> list[int]:
    return [1, True, 2**53 + 1]


COMPUTED: list[Callable[[Any], Any]] = [_int_value, _none_value, _model_value, _any_value, _list_value]


def copyable(value: Any) -> bool:
    """Whether pydantic can hand out copies of a default: not of generators."""
    try:
        copy.deepcopy(value)
    except TypeError:
        return False
    return True


@st.composite
def field_definitions(draw: st.DrawFn, kind: Kind) -> Any:
    """`(annotation, Field(...))` with drawn options."""
    options: dict[str, Any] = {}
    if not draw(st.integers(0, 3)):
        options[draw(st.sampled_from(["alias", "serialization_alias", "validation_alias"]))] = draw(
            st.sampled_from(ALIASES)
        )
    if not draw(st.integers(0, 14)):
        options["exclude"] = True
    if not draw(st.integers(0, 9)):
        options["exclude_if"] = draw(
            st.sampled_from([lambda value: value is None, lambda value: not value, lambda value: True])
        )
    default = draw(kind.makes)()
    if draw(st.booleans()) and copyable(default):
        options["default"] = default
    elif draw(st.booleans()):
        options["default_factory"] = draw(kind.makes)
    return kind.annotation, Field(**options)


@st.composite
def configs(draw: st.DrawFn) -> ConfigDict:
    """Model configurations, most of them plain."""
    rare = {
        "extra": ["allow", "allow", "ignore", "forbid"],
        "serialize_by_alias": [True, False],
        "ser_json_bytes": ["hex", "base64", "utf8"],
        "ser_json_timedelta": ["float", "iso8601"],
        "ser_json_inf_nan": ["null", "constants", "strings"],
        "frozen": [True],
        "use_enum_values": [True],
        "defer_build": [True],
    }
    chosen = {name: draw(st.sampled_from(options)) for name, options in rare.items() if not draw(st.integers(0, 4))}
    return ConfigDict(arbitrary_types_allowed=True, protected_namespaces=(), **chosen)


@st.composite
def species(draw: st.DrawFn, depth: int = 2) -> Species:
    """A generated model class."""
    with nested(species_kind(depth - 1) if depth > 0 else None):
        names = draw(st.lists(st.sampled_from(FIELD_NAMES), min_size=3, max_size=5, unique=True))
        fields = {name: draw(kinds(depth)) for name in names}
    definitions = {name: draw(field_definitions(kind)) for name, kind in fields.items()}
    members: dict[str, Any] = {}
    for name in names:
        if draw(st.integers(0, 4)) == 0:
            wrap = draw(st.booleans())
            function = draw(st.sampled_from(WRAP if wrap else PLAIN))
            if not draw(st.integers(0, 19)):
                wrap, function = False, _failing
            when = draw(st.sampled_from(["always", "always", "json", "unless-none", "json-unless-none"]))
            members[f"ser_{name}"] = field_serializer(name, mode="wrap" if wrap else "plain", when_used=when)(function)
    for name in draw(st.lists(st.sampled_from(["f", "g", "h"]), max_size=2, unique=True)):
        alias = draw(st.none() | st.sampled_from([*ALIASES, *FIELD_NAMES]))
        members[name] = computed_field(alias=alias)(property(draw(st.sampled_from(COMPUTED))))
    if not draw(st.integers(0, 11)):
        mode, function = draw(
            st.sampled_from([("plain", _model_plain), ("wrap", _model_wrap), ("wrap", _model_wrap_flat)])
        )
        members["ser_model"] = model_serializer(mode=mode)(function)
    cls = create_model(
        f"Model{next(serial)}", __config__=draw(configs()), __validators__=members, __module__=__name__, **definitions
    )
    if not draw(st.integers(0, 5)):
        kind = draw(kinds(0))
        cls = create_model(f"Child{next(serial)}", __base__=cls, __module__=__name__, z=(kind.annotation, None))
        fields["z"] = kind
    return Species(cls, fields)


@st.composite
def species_kind(draw: st.DrawFn, depth: int) -> Kind:
    """A field that holds a generated model."""
    drawn = draw(species(depth))
    return Kind(drawn.cls, instances(drawn))


@st.composite
def instances(draw: st.DrawFn, drawn: Species) -> Make:
    """Instances of a generated class: right values, wrong ones, missing, stray and reordered attributes."""
    makes: dict[str, Make] = {}
    for name, kind in drawn.fields.items():
        luck = draw(st.integers(0, 19))
        if luck > 2:
            makes[name] = draw(kind.makes)
        elif luck:
            makes[name] = draw(values.junk)
    extras: dict[str, Make] = {}
    if drawn.cls.model_config.get("extra") == "allow" and draw(st.booleans()):
        extras = dict(draw(st.lists(st.tuples(st.sampled_from(EXTRA_NAMES), values.anything), max_size=3)))
    fields_set = draw(st.none() | st.sets(st.sampled_from(FIELD_NAMES)))
    tamper = draw(st.sampled_from(["no"] * 12 + ["move", "delete", "stray"]))

    def make() -> BaseModel:
        model = drawn.cls.model_construct(fields_set, **{name: value() for name, value in makes.items()})
        if extras and model.__pydantic_extra__ is not None:
            model.__pydantic_extra__.update({name: value() for name, value in extras.items()})
        if tamper == "move" and model.__dict__:
            first = next(iter(model.__dict__))
            model.__dict__[first] = model.__dict__.pop(first)
        elif tamper == "delete" and model.__dict__:
            model.__dict__.popitem()
        elif tamper == "stray":
            model.__dict__["f"] = object()
        return model

    return make


@st.composite
def models(draw: st.DrawFn, depth: int = 2) -> Make:
    """Makes of instances of generated classes, one in eight of them a root model."""
    if not draw(st.integers(0, 7)):
        with nested(species_kind(depth - 1)):
            kind = draw(kinds(depth))
        root = create_model(f"Root{next(serial)}", __base__=RootModel[kind.annotation], __module__=__name__)
        value: Makes = st.integers(0, 9).flatmap(lambda n: kind.makes if n else values.junk)
        make = draw(value)
        return lambda: root.model_construct(make())
    return draw(instances(draw(species(depth))))
