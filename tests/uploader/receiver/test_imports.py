"""The receiver stands alone: a client of another make could use it, and it knows nothing of ours."""

import ast
from pathlib import Path

import uploader.receiver


def test_the_receiver_imports_nothing_else_of_the_project() -> None:
    names = set()
    for path in Path(uploader.receiver.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names.add(node.module or "")
    ours = {name for name in names if name.split(".")[0] in ("uploader", "encoder")}
    assert ours
    assert all(name.startswith("uploader.receiver") for name in ours)


def test_the_public_names() -> None:
    assert all(hasattr(uploader.receiver, name) for name in uploader.receiver.__all__)
