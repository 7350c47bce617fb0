"""The compiled part, `encoder._native`, where it was built; without it everything works, only slower.

It writes what the modules beside it write in Python: columns, and rows of values that are exactly what their types
declare. What it does not know it leaves to them.
"""

from typing import Final

try:
    from encoder import _native as native
except ImportError:  # there was no compiler
    native = None  # type: ignore[assignment]

__all__ = ["IS_COMPILED", "native"]

IS_COMPILED: Final[bool] = native is not None
"""Whether the compiled part is there."""
