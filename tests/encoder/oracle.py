"""The slow, obvious encoder and the one assertion that every fast path must pass."""

import asyncio
import atexit
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pytest
from hypothesis import currently_in_test_context
from pydantic import BaseModel

from encoder.encode import aiter_json, iter_json, to_json
from encoder.errors import EncodeError
from tests.encoder.ways import all_fast

Subject = BaseModel | Callable[[], BaseModel]
runner = asyncio.Runner()  # one loop for thousands of cases: a new one each would cost more than the cases
atexit.register(runner.close)


@dataclass(frozen=True)
class Outcome:
    """What one way of encoding did: its bytes or its error, and the categories it warned of."""

    body: bytes | None
    error: Exception | None
    warned: frozenset[type[Warning]]


def oracle(model: BaseModel, **dump_kwargs: Any) -> bytes:
    """The bytes that unstall must produce."""
    return orjson.dumps(model.model_dump(mode="json", **dump_kwargs), option=orjson.OPT_SERIALIZE_NUMPY)


def joined(model: BaseModel, **dump_kwargs: Any) -> bytes:
    """The pieces of `iter_json`, joined."""
    return b"".join(checked(piece) for piece in iter_json(model, **dump_kwargs))


def joined_async(model: BaseModel, **dump_kwargs: Any) -> bytes:
    """The pieces of `aiter_json`, joined."""

    async def collect() -> bytes:
        return b"".join([checked(piece) async for piece in aiter_json(model, **dump_kwargs)])

    return runner.run(collect())


def checked(piece: object) -> bytes:
    """The piece itself, when it is one."""
    assert type(piece) is bytes, f"a piece must be bytes, not {type(piece).__name__}"
    return piece


def observe(encode: Callable[..., bytes], model: BaseModel, dump_kwargs: dict[str, Any]) -> Outcome:
    """Run one way of encoding and note all that it does."""
    body, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            body = encode(model, **dump_kwargs)
        except Exception as problem:  # noqa: BLE001 - the oracle's refusals are of every kind
            error = problem
    return Outcome(body, error, frozenset(warning.category for warning in caught))


def encoders() -> tuple[Callable[..., bytes], ...]:
    """The ways of encoding that are compared with the oracle.

    With fast paths switched off one is enough: below `splice` they are the same.
    """
    return (to_json, joined, joined_async) if all_fast() else (joined,)


def repeated(calls: list[Any]) -> bool:
    """Whether the oracle and each of ours, one after the other, have made the same calls."""
    times = 1 + len(encoders())
    return calls == calls[: len(calls) // times] * times


def assert_same(subject: Subject, **dump_kwargs: Any) -> Outcome:
    """Assert that all ways of encoding do what the oracle does; return what it did.

    Args:
        subject: a model, or a function that makes one, called for each way: one-shot values (generators)
            and serializers that count their calls need a fresh model each time.
        **dump_kwargs: `model_dump`'s.
    """
    make: Callable[[], BaseModel] = (lambda: subject) if isinstance(subject, BaseModel) else subject
    expected = observe(oracle, make(), dump_kwargs)
    for encode in encoders():
        actual = observe(encode, make(), dump_kwargs)
        # What is generated may have several faults, and the oracle meets all of pydantic's before any of orjson's; it
        # lists the warnings of the whole record.
        may_be_others = currently_in_test_context() or dump_kwargs.get("warnings") == "error"
        cause = None if may_be_others else expected.error
        problem = refusal_problem(actual, cause) if expected.error else problem_of(actual, expected)
        if problem:
            pytest.fail(
                f"{encode.__name__}: {problem}\n  of {described(make())}\n  with {dump_kwargs!r:.1000}\n  oracle: "
                f"{(expected.error or expected.body)!r:.1000}"
            )
    return expected


def problem_of(actual: Outcome, expected: Outcome) -> str | None:
    """What is wrong with an encoding that should have succeeded."""
    if actual.error is not None:
        return f"raised {actual.error!r} (cause {actual.error.__cause__!r})"
    if actual.body != expected.body:
        return difference(actual.body, expected.body)
    if actual.warned != expected.warned:
        return f"warned {set(actual.warned)}, not {set(expected.warned)}"
    return None


_NO_TEXT: Final = "surrogates not allowed"
_NO_BOOL: Final = ("object cannot be converted to 'PyBool'", "is not an instance of 'bool'")


def refusal_problem(actual: Outcome, expected: Exception | None) -> str | None:
    """What is wrong with an encoding that should have ended in an `EncodeError` that a user can work with."""
    error = actual.error
    if not isinstance(error, EncodeError):
        return f"wrote {actual.body!r:.300}" if error is None else f"raised {error!r}"
    if not error.path.startswith("$") or not error.reason:
        return f"raised an error without a path or a reason: {error!r}"
    cause, says = error.__cause__, _says(expected)
    if expected and (_says(cause) != says or not (isinstance(cause, type(expected)) or says == _NO_TEXT)):
        return f"the cause is {cause!r}, not {expected!r}"
    copy = pickle.loads(pickle.dumps(error))
    return None if (copy.path, copy.reason) == (error.path, error.reason) else f"{copy!r} is not {error!r}"


def _says(error: BaseException | None) -> str:
    """What an error says, in whatever words.

    A text that has no form in UTF-8 is met by pydantic, or by orjson where pydantic takes it over as it is. What is no
    bool is refused in other words by other releases.
    """
    text = str(error)
    return next((known for known in (_NO_TEXT, *_NO_BOOL) if text.endswith(known)), text).replace(*_NO_BOOL)


def described(model: BaseModel) -> str:
    """A model's repr, or why it has none."""
    try:
        return f"{model!r:.2000}"
    except Exception as error:  # noqa: BLE001 - cycles, depth, attributes deleted on purpose
        return f"{type(model).__name__} ({error!r:.200})"


def difference(actual: bytes | None, expected: bytes | None) -> str:
    """Where two bodies first differ, with what stands around."""
    if actual is None or expected is None:
        return f"{actual!r:.300} instead of {expected!r:.300}"
    at = next(
        (i for i, (a, b) in enumerate(zip(actual, expected, strict=False)) if a != b), min(len(actual), len(expected))
    )
    start = max(0, at - 60)
    return f"at byte {at} of {len(expected)}: {actual[start : at + 60]!r} instead of {expected[start : at + 60]!r}"
