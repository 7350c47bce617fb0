"""W&B without W&B: a module that notes what it is told, and fails where a test says so."""

from types import SimpleNamespace
from typing import Any


class Table:
    def __init__(self, columns: list[str], data: list[list[Any]], allow_mixed_types: bool) -> None:
        assert allow_mixed_types
        self.rows = [dict(zip(columns, row, strict=True)) for row in data]


class FakeRun:
    """Notes each call."""

    offline = False
    url = "https://wandb.example/run"

    def __init__(self) -> None:
        self.defined: list[tuple[str, dict[str, Any]]] = []
        self.logged: list[dict[str, Any]] = []
        self.finished: list[int] = []
        self.errors: list[BaseException] = []

    def define_metric(self, name: str, **options: Any) -> None:
        self.defined.append((name, options))

    def log(self, row: dict[str, Any]) -> None:
        assert not self.finished
        if self.errors:
            raise self.errors.pop(0)
        self.logged.append(row)

    def finish(self, exit_code: int) -> None:
        self.finished.append(exit_code)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of metrics."""
        return [row for row in self.logged if not any(isinstance(value, Table) for value in row.values())]

    @property
    def tables(self) -> list[tuple[int, str, list[dict[str, Any]]]]:
        """The step, the name and the rows of each table."""
        return [
            (row["step"], name, value.rows)
            for row in self.logged
            for name, value in row.items()
            if isinstance(value, Table)
        ]


class FakeModule(SimpleNamespace):
    """Opens one run.

    Attributes:
        run: the run.
        refusals: what its next openings raise.
        arguments: those of each opening.
    """

    def __init__(self) -> None:
        super().__init__(Table=Table)
        self.run = FakeRun()
        self.refusals: list[BaseException] = []
        self.arguments: list[dict[str, Any]] = []

    def init(self, **arguments: Any) -> FakeRun:
        self.arguments.append(arguments)
        if self.refusals:
            raise self.refusals.pop(0)
        return self.run
