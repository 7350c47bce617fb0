"""Python's `round` for whole float arrays, exactly.

`round(a, n)` is the double nearest to the n-digit decimal nearest to the exact value of `a`; a value half way
between two decimals goes to the even one. `numpy.round` is not that near ties. Why the formula here is:

1. For 0 <= n <= 22 the scale S = 10**n is exact, so y = fl(a * S) is the exact product t, rounded once.
2. Rounding is monotonic. A half-integer h below 2**52 is a double, so t < h gives y <= h, and t > h gives
   y >= h: y is on the same side of h as t, or h itself. So no tolerance is needed, whatever the size of y.
   (From 2**52 to 2**53, y is t rounded to the nearest integer, halves to even: again what is wanted.)
3. So r = rint(y) is the integer nearest to t, unless y is a half-integer. There the sign of the product's
   error t - y, which Dekker's method gives exactly, tells the side; at zero, rint took the even neighbour.
4. While abs(r) < 2**53, r and S are exact and their division is rounded once: r / S is the double nearest to
   the decimal.
5. If abs(t) > 2**53 the answer is `a` itself: the decimal is at most 10**-n / 2 away from it, less than
   abs(a) * 2**-54, which is at most half of the distance to either neighbouring double. abs(y) > 2**53
   implies it, the infinities included. At abs(y) == 2**53 Python rounds.

NaN passes through every step, and -0.0 keeps its sign in each of them.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
Float64Array = npt.NDArray[np.float64]

MAX_EXACT_DECIMALS = 22
"""10**22 is the largest power of ten that a double holds exactly."""

_ALL_INTEGERS_EXACT = 2.0**53
_SPLITTER = 2.0**27 + 1.0


def round_floats(values: FloatArray, decimals: int) -> Float64Array:
    """Round an array as `round(value, decimals)` rounds each of its values.

    Args:
        values: floats of any width and shape; narrower ones are widened to float64 first.
        decimals: how many digits to keep after the point; negative ones round before it.

    Returns:
        A new float64 array of the same shape.

    Raises:
        OverflowError: a negative `decimals` rounds a value out of a double's range, as in Python.
    """
    wide = np.asarray(values, dtype=np.float64)
    if not 0 <= decimals <= MAX_EXACT_DECIMALS:
        return _round_one_by_one(wide, decimals)
    multiples = nearest_multiples(wide, decimals)
    rounded = multiples / 10.0**decimals
    size = np.abs(multiples)
    if size.max(initial=0.0) < _ALL_INTEGERS_EXACT:
        return rounded
    # Also reached when a NaN is the maximum; both masks leave it as it is.
    untouched = size > _ALL_INTEGERS_EXACT
    rounded[untouched] = wide[untouched]
    limit = size == _ALL_INTEGERS_EXACT
    rounded[limit] = _round_one_by_one(wide[limit], decimals)
    return rounded


def nearest_multiples(values: Float64Array, decimals: int) -> Float64Array:
    """Return, for each value, the integer nearest to `value * 10**decimals`, halves to even.

    Args:
        values: a float64 array.
        decimals: 0 to `MAX_EXACT_DECIMALS`.

    Returns:
        A new float64 array. Exact below 2**53; beyond, the product rounded once. NaN stays NaN.
    """
    scale = 10.0**decimals
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        products = values * scale
        nearest = np.rint(products)
        distances = np.abs(products - nearest)
    if not distances.size or distances.max() < 0.5:
        return nearest
    halves = distances == 0.5
    if halves.any():
        at_half = products[halves]
        error = _product_error(values[halves], scale, at_half)
        side = np.where(error > 0, np.ceil(at_half), np.floor(at_half))
        nearest[halves] = np.where(error == 0, nearest[halves], side)
    return nearest


def _product_error(factors: Float64Array, scale: float, products: Float64Array) -> Float64Array:
    """Return `factors * scale - products` exactly (Dekker), where `products` is the rounded product.

    Exact as long as nothing overflows or underflows, which products between 0.5 and 2**52 cannot cause.
    """
    scale_high = scale * _SPLITTER - (scale * _SPLITTER - scale)
    scale_low = scale - scale_high
    shifted = factors * _SPLITTER
    high = shifted - (shifted - factors)
    low = factors - high
    return ((high * scale_high - products) + high * scale_low + low * scale_high) + low * scale_low


def _round_one_by_one(values: Float64Array, decimals: int) -> Float64Array:
    """Let Python round each value."""
    rounded = [round(value, decimals) for value in values.ravel().tolist()]
    return np.array(rounded, dtype=np.float64).reshape(values.shape)
