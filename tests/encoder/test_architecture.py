"""The structure that the source tree keeps: who imports whom, who touches what, how long a module is."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import encoder
import uploader

MAX_LINES = 250
EXTRAS = (
    "backports.zstd",
    "click",
    "msgspec",
    "multipart",
    "obstore",
    "opentelemetry",
    "python_multipart",
    "rich",
    "starlette",
    "typer",
    "uvicorn",
    "wandb",
)
INTERNALS = re.compile(r"pydantic_core|pydantic\._internal|__pydantic_\w+__")
PACKAGES = {package.__name__: Path(str(package.__file__)).parent for package in (encoder, uploader)}


def sources(package: str) -> list[tuple[str, Path]]:
    """Every module of a package: its dotted name and its file."""
    root = PACKAGES[package]
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = [package, *path.relative_to(root).with_suffix("").parts]
        found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def imports(module: str, path: Path) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it; `from a import b` gives `a.b`."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                origin = ".".join([*above, origin]) if origin else ".".join(above)
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def within(name: str, package: str) -> bool:
    """Whether a dotted name is the package or stands inside it."""
    return name == package or name.startswith(f"{package}.")


ENCODER, UPLOADER = sources("encoder"), sources("uploader")
MODULE_NAMES = {name for name, _ in ENCODER + UPLOADER}


@pytest.mark.parametrize(("module", "path"), ENCODER, ids=lambda value: str(value) if isinstance(value, str) else "")
def test_the_encoder_never_imports_the_uploader(module: str, path: Path) -> None:
    assert not [name for name in imports(module, path) if within(name, "uploader")]


def test_the_receiver_stands_alone() -> None:
    for module, path in UPLOADER:
        if within(module, "uploader.receiver"):
            strangers = [
                name
                for name in imports(module, path)
                if within(name, "encoder") or (within(name, "uploader") and not within(name, "uploader.receiver"))
            ]
            assert not strangers, f"{module} imports {strangers}"


def test_nobody_reaches_into_the_receiver() -> None:
    for module, path in ENCODER + UPLOADER:
        if not within(module, "uploader.receiver"):
            inner = [
                name
                for name in imports(module, path)
                if name.startswith("uploader.receiver.")
                and (name in MODULE_NAMES or name.rpartition(".")[0] != "uploader.receiver")
            ]
            assert not inner, f"{module} imports {inner}: import from uploader.receiver itself"


@pytest.mark.parametrize(
    ("package", "forbidden"),
    # httpx itself imports click and rich, where they are installed, for its own command.
    [("encoder", ("httpx", "uploader", "anyio", *EXTRAS)), ("uploader", tuple({*EXTRAS} - {"click", "rich"}))],
)
def test_importing_stays_light(package: str, forbidden: tuple[str, ...]) -> None:
    script = f"import sys, {package}; print(*(name for name in {forbidden!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("module", "path"), ENCODER + UPLOADER, ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_pydantic_internals_are_touched_in_one_module(module: str, path: Path) -> None:
    if module == "encoder.schema":
        return
    code = ast.unparse(without_docstrings(ast.parse(path.read_text(encoding="utf-8"))))
    found = {match.group() for match in INTERNALS.finditer(code)}
    assert not found, f"{module} touches {found}: move that to encoder/schema.py"


def without_docstrings(tree: ast.Module) -> ast.Module:
    """The tree, its bare strings dropped: prose may name what code must not touch."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [item for item in body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


@pytest.mark.parametrize(
    ("module", "path"), ENCODER + UPLOADER, ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_modules_stay_short(module: str, path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{module} has {lines} lines: split it by purpose"
