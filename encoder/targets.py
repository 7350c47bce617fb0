"""Find the model that a command line names as `module:object`."""

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel

from encoder.errors import EncoderError


class TargetError(EncoderError):
    """There is no model at a target.

    What the module or the function raised, where it did, is the `__cause__`.

    Attributes:
        target: as it was given.
        reason: what is wrong with it, in one line.
    """

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(target, reason)
        self.target = target
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.target}: {self.reason}"


def load_model(target: str) -> BaseModel:
    """Return the model at `module:name`, or the one that the function there returns; modules may lie in the folder.

    Raises:
        TargetError: there is none.
    """
    module_name, _, names = target.partition(":")
    if not module_name or not names:
        raise TargetError(target, "give module:object, such as my_package.my_module:my_model")
    if module_name.endswith(".py"):
        dotted = ".".join(PurePath(module_name.removesuffix(".py")).parts)
        raise TargetError(target, f"give the module's name, not its file: {dotted}:{names}")
    found = _module(target, module_name)
    for name in names.split("."):
        if not hasattr(found, name):
            raise TargetError(target, f"there is no {name} in {module_name}")
        found = getattr(found, name)
    if callable(found) and not isinstance(found, BaseModel):
        found = _called(target, found)
    if not isinstance(found, BaseModel):
        raise TargetError(target, f"it is no pydantic model but {type(found).__name__}")
    return found


def _module(target: str, name: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            raise TargetError(target, f"there is no module {missing}") from None
        raise TargetError(target, f"importing {name} failed: {_in_one_line(error)}") from error


def _called(target: str, function: Callable[..., Any]) -> Any:
    wanted = "name a model, or a function that returns one without arguments"
    kind = "class" if isinstance(function, type) else "function"
    try:
        inspect.signature(function).bind()
    except TypeError:
        raise TargetError(target, f"it is a {kind} that needs arguments: {wanted}") from None
    except ValueError:  # a built-in one without a signature: the call will tell
        pass
    try:
        result = function()
    except (Exception, SystemExit) as error:
        raise TargetError(target, f"the {kind} raised {_in_one_line(error)}") from error
    if inspect.iscoroutine(result):
        result.close()
        raise TargetError(target, f"it is a coroutine function: {wanted}")
    return result


def _in_one_line(error: BaseException) -> str:
    """The error's type, the first line of its text, and where the user's code raised it."""
    name = type(error).__name__
    text = next(iter(str(error).splitlines()), "")
    if isinstance(error, SyntaxError):
        return f"{name}: {error.msg} ({PurePath(error.filename or '').name}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({PurePath(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{name}: {text}{where}" if text else f"{name}{where}"
