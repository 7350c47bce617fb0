"""Walk a model by its plan and yield its JSON in pieces.

Steps that wait for inner steps stand on a stack, each with the position that it writes, so that a step costs the same
at any depth, and an error's path is known when it happens.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from pydantic import BaseModel

from encoder.arguments import is_plain, refuse_unknown
from encoder.errors import EncodeError
from encoder.plan import plan_of
from encoder.schema import infer, is_model
from encoder.writers.base import CircularError, Label, Run, Steps, TooDeepError, Unwritable, Verdict, Writer
from encoder.writers.calls import dumps, is_panic, locate
from encoder.writers.trees import write_tree

# Bytes of a piece, roughly: large enough that hashing and compressing one call each is cheap.
PIECE_BYTES: Final = 64 * 1024

# What an error is about that the whole record has to be dumped for, to tell it as pydantic and orjson do.
_OF_DEPTH: Final = (TooDeepError, CircularError, RecursionError)
_TOO_DEEP: Final = "Recursion limit reached"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def splice(model: BaseModel, arguments: dict[str, Any]) -> Iterator[bytes]:
    """Yield the pieces of a model's JSON, and an empty one wherever it is a good moment to give way.

    Args:
        model: an instance of any pydantic model.
        arguments: those of `model_dump`, without `mode`.

    Raises:
        TypeError: an argument is none of `model_dump`'s.
        EncodeError: a value cannot be written.
    """
    refuse_unknown(arguments)
    return _pieces(model, arguments)


def splice_into(out: list[bytes], model: BaseModel, arguments: dict[str, Any]) -> Iterator[None]:
    """Append a model's JSON to a list, and yield wherever it is a good moment to give way.

    Args:
        out: where the parts are appended; the caller may take them out whenever this yields.
        model: as for `splice`.
        arguments: as for `splice`.

    Raises:
        TypeError: an argument is none of `model_dump`'s.
        EncodeError: a value cannot be written.
    """
    refuse_unknown(arguments)
    return _steps(model, arguments, _new_run(arguments, out))


def splice_tree_into(out: list[bytes], tree: Any) -> Iterator[None]:
    """Append to a list what orjson writes for a tree that pydantic made, as `splice_into` does.

    Raises:
        EncodeError: a value cannot be written.
    """
    return drive(write_tree(tree, _new_run({}, out), 0))


def refuse(error: Unwritable) -> NoReturn:
    """Say that a record cannot be written.

    Raises:
        EncodeError: always.
    """
    raise _failure(error, (), (), 0) from _cause(error)


def _pieces(model: BaseModel, arguments: dict[str, Any]) -> Iterator[bytes]:
    run = _new_run(arguments, [])
    for _ in _steps(model, arguments, run):
        yield run.take() if run.size() >= PIECE_BYTES else b""
    if run.out:
        yield run.take()


def _new_run(arguments: dict[str, Any], out: list[bytes]) -> Run:
    return Run({key: value for key, value in arguments.items() if key not in ("include", "exclude")}, out)


def _steps(model: BaseModel, arguments: dict[str, Any], run: Run) -> Iterator[None]:
    """Write the model; what is yielded is a good moment to give way."""
    if not is_model(model):
        raise EncodeError("$", f"an instance of a pydantic model is needed, not {type(model).__name__}")
    try:
        yield from drive(_begin(model, arguments, run))
    except EncodeError as error:
        cause = error.__cause__
        said = _said_of_depth(model, arguments) if isinstance(cause, _OF_DEPTH) or str(cause) == _TOO_DEEP else None
        if said is None:
            raise
        raise EncodeError(error.path, f"{type(said).__name__}: {said}") from said


def _said_of_depth(model: BaseModel, arguments: dict[str, Any]) -> Exception | None:
    """What is said of a record that is too deep or holds itself: pydantic and orjson each count in their own way."""
    quiet = arguments if arguments.get("warnings") == "error" else {**arguments, "warnings": False}
    try:
        dumps(dump_whole(model, quiet), 0)
    except Unwritable as error:
        return error.__cause__ if isinstance(error.__cause__, Exception) else None
    return None


def drive(steps: Steps, labels: tuple[Label, ...] = (), first: int = 0) -> Iterator[None]:
    """Run steps, and the inner ones that they ask for; what is yielded is a good moment to give way.

    Args:
        steps: what writes a value.
        labels: where the value stands in the record.
        first: the index in the record of a list's first item, where `steps` write a part of it.

    Raises:
        EncodeError: a value cannot be written.
    """
    stack: list[tuple[tuple[Label, ...], Steps]] = [((), steps)]
    while stack:
        try:
            inner = next(stack[-1][1])
        except StopIteration:
            stack.pop()
            continue
        except Exception as error:  # noqa: BLE001 - a serializer of the user's may raise anything
            inside = tuple(label for above, _ in stack for label in above)
            raise _failure(error, labels, inside, first) from _cause(error)
        if inner is not None:
            label, steps = inner
            stack.append(((label,), steps))
        yield


def _begin(model: BaseModel, arguments: dict[str, Any], run: Run) -> Steps:
    """The steps of the record: by plan, or, where there is none, of what pydantic dumps at once."""
    steps = None
    plan = plan_of(type(model)) if is_plain(arguments) else None
    if plan is not None:
        include, exclude = arguments.get("include"), arguments.get("exclude")
        if include is None and exclude is None and _write_small(plan, model, run):
            return
        steps = plan.steps(model, run, include, exclude, 0)
    if steps is None:
        steps = write_tree(dump_whole(model, arguments), run, 0)
    yield from steps


def _write_small(plan: Writer, model: BaseModel, run: Run) -> bool:
    """Write a small record by one call, and say whether it was one."""
    written = plan.simple(model, run)
    if isinstance(written, Verdict):
        run.block.forget()
        return False
    text = dumps(written, 0)
    run.out.extend(run.block.fill(text) if run.block.order else [text])
    return True


def dump_whole(model: BaseModel, arguments: dict[str, Any]) -> Any:
    """What pydantic makes of a model at once.

    Raises:
        Unwritable: it cannot; its cause says why.
    """
    try:
        return model.model_dump(mode="json", **arguments)
    except Exception as error:  # a serializer of the user's may raise anything
        rest = {key: value for key, value in arguments.items() if key not in ("include", "exclude")}
        raise Unwritable(locate(model, infer(rest))) from error
    except BaseException as error:
        if not is_panic(error):
            raise
        raise Unwritable(()) from error


def _failure(error: Exception, labels: tuple[Label, ...], inside: tuple[Label, ...], first: int) -> EncodeError:
    tail = inside + (error.tail if isinstance(error, Unwritable) else ())
    if tail and isinstance(tail[0], int):
        tail = (tail[0] + first, *tail[1:])
    cause = _cause(error)
    return EncodeError(json_path(labels + tail), f"{type(cause).__name__}: {cause}")


def _cause(error: Exception) -> BaseException:
    return error.__cause__ if isinstance(error, Unwritable) and error.__cause__ is not None else error


def json_path(labels: tuple[Label, ...]) -> str:
    """The path of a value, like `$.traces[0].info["a key"]`."""
    parts = ["$"]
    for label in labels:
        if isinstance(label, int):
            parts.append(f"[{label}]")
        elif _IDENTIFIER.match(label):
            parts.append(f".{label}")
        else:
            # As JSON, characters that no text can hold as escapes.
            parts.append(f"[{json.dumps(label, ensure_ascii=not _is_text(label))}]")
    return "".join(parts)


def _is_text(label: str) -> bool:
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True
