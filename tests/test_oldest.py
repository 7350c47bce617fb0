"""The oldest releases that the suite runs against are those that pyproject.toml promises."""

import tomllib

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINES = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
PINS = [line for line in LINES if not line.startswith("#")]


def lower_bounds() -> set[str]:
    """A pin `name==version` for the lower bound of everything that the package and its extras require."""
    project = PYPROJECT["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    requirements = [Requirement(line) for line in (*project["dependencies"], *extras)]
    return {
        f"{requirement.name}=={specifier.version}"
        for requirement in requirements
        if requirement.name != project["name"]
        for specifier in requirement.specifier
        if specifier.operator == ">="
    }


def test_the_pins_are_the_lower_bounds() -> None:
    assert sorted(PINS) == sorted(lower_bounds())


@pytest.mark.parametrize("name", ["dependencies", "optional-dependencies"])
def test_every_requirement_has_a_lower_bound_alone(name: str) -> None:
    declared = PYPROJECT["project"][name]
    lines = declared if isinstance(declared, list) else [line for lines in declared.values() for line in lines]
    requirements = [Requirement(line) for line in lines]
    others = [requirement for requirement in requirements if requirement.name != PYPROJECT["project"]["name"]]
    assert others
    assert all([each.operator for each in requirement.specifier] == [">="] for requirement in others)
