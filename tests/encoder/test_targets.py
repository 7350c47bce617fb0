"""What a command line's `module:object` finds, and what it says where there is no model."""

import pickle
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from encoder.targets import TargetError, load_model

SOURCE = """
from pydantic import BaseModel

class Model(BaseModel):
    values: list[int] = [1, 2, 3]

class Models:
    one = Model()

def make():
    return Model()

class Needy(BaseModel):
    text: str

def needy(size):
    return Model()

def raises():
    raise ValueError("a first line\\nand a second")

async def coroutine():
    return Model()

number = 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def module(folder: Path) -> str:
    name = f"module_of_{folder.name}".replace("-", "_")
    (folder / f"{name}.py").write_text(SOURCE)
    return name


@pytest.mark.parametrize("name", ["make", "Model", "Models.one"])
def test_loads_a_model_or_calls_what_returns_one(module: str, name: str) -> None:
    assert load_model(f"{module}:{name}").model_dump() == {"values": [1, 2, 3]}


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("", "give module:object"),
        ("{module}", "give module:object"),
        ("{module}:", "give module:object"),
        ("{module}:nothing", "there is no nothing"),
        ("{module}:number", "no pydantic model but int"),
        ("{module}:Needy", "it is a class that needs arguments"),
        ("{module}:needy", "it is a function that needs arguments"),
        ("{module}:raises", r"the function raised ValueError: a first line \(module_of_.*\.py, line 20\)$"),
        ("builtins:dict", "no pydantic model but dict"),
        ("{module}:coroutine", "it is a coroutine function"),
        ("{module}.py:make", "not its file: module_of_[a-z0-9_]*:make$"),
        ("a/folder/{module}.py:make", r"not its file: a\.folder\.module_of_"),
        ("{module}.deeper:Model", "there is no module"),
        ("no_such_module:Model", "there is no module no_such_module"),
    ],
)
def test_says_what_is_wrong_with_a_target(module: str, target: str, reason: str) -> None:
    with pytest.raises(TargetError, match=reason) as caught:
        load_model(target.format(module=module))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_module_that_cannot_be_imported(folder: Path) -> None:
    (folder / "module_that_lacks_another.py").write_text("\n\nimport surely_not_there")
    (folder / "module_that_is_no_python.py").write_text("x = 1\ny = (")
    (folder / "module_that_exits.py").write_text("raise SystemExit(0)")
    for name, reason in {
        "module_that_lacks_another": "ModuleNotFoundError: No module named 'surely_not_there' (module_that_lacks",
        "module_that_is_no_python": "SyntaxError: '(' was never closed (module_that_is_no_python.py, line 2)",
        "module_that_exits": "SystemExit: 0 (module_that_exits.py, line 1)",
        ".relative": "TypeError: ",
    }.items():
        with pytest.raises(TargetError) as caught:
            load_model(f"{name}:x")
        assert f"importing {name} failed: {reason}" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_models_are_not_called() -> None:
    class Callable(BaseModel):
        def __call__(self) -> None:
            raise AssertionError

    sys.modules["module_with_a_callable"] = type(sys)("module_with_a_callable")
    sys.modules["module_with_a_callable"].model = Callable()  # type: ignore[attr-defined]
    try:
        assert isinstance(load_model("module_with_a_callable:model"), Callable)
    finally:
        del sys.modules["module_with_a_callable"]
