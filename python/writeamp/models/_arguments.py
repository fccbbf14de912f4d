"""Checks of arguments that all models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown

FloatArray: TypeAlias = npt.NDArray[np.float64]
FloatOrArray: TypeAlias = np.float64 | FloatArray
_Mask: TypeAlias = npt.NDArray[np.bool_]

# Time and memory of some models grow in proportion to the pages per block.
MAX_PAGES_PER_BLOCK = 1 << 20


@dataclass(frozen=True)
class _Check:
    """Check of an argument: its valid values as text, and as a function (False for NaN)."""

    words: str
    holds: Callable[[FloatArray], _Mask]

    def __call__(self, name: str, value: npt.ArrayLike) -> FloatArray:
        """Return `value` as float64, or raise if an element is outside the domain."""
        array = _as_floats(name, value, self.words)
        raise_first(name, array, ~self.holds(array), self.words)
        return array


def _is_integer(array: FloatArray, least: int, most: int) -> _Mask:
    is_whole: _Mask = np.isfinite(array) & (array == np.floor(array))
    return is_whole & (array >= least) & (array <= most)


# Limits of ratios: far beyond all drives, but the reciprocals are still finite floats.
_LEAST, _MOST = 1e-300, 1e300
# Limit of counts; floats do not represent all whole numbers above it.
_MOST_COUNT = 2**53
# Limit of the number of drawn blocks d in the engine.
_MOST_CHOICES = 2**32 - 1

positive = _Check(
    f"finite and greater than 0, from {_LEAST:g} to {_MOST:g}",
    lambda a: (a >= _LEAST) & (a <= _MOST),
)
whole = _Check("an integer of at least 1", lambda a: _is_integer(a, 1, _MOST_COUNT))
count = _Check("an integer of at least 0", lambda a: _is_integer(a, 0, _MOST_COUNT))
whole_or_infinite = _Check(
    "an integer of at least 1 and below 2^32, or infinite",
    lambda a: _is_integer(a, 1, _MOST_CHOICES) | (a == np.inf),
)
block_pages = _Check(
    f"an integer of at least 1 and at most {MAX_PAGES_PER_BLOCK}",
    lambda a: _is_integer(a, 1, MAX_PAGES_PER_BLOCK),
)
large_or_infinite = _Check("at least 2, or infinite", lambda a: a >= 2)
proper_share = _Check("greater than 0 and less than 1", lambda a: (a >= _LEAST) & (a < 1))
share = _Check("greater than 0 and at most 1", lambda a: (a >= _LEAST) & (a <= 1))
share_or_zero = _Check("from 0 to 1", lambda a: (a >= 0) & (a <= 1))
amplified = _Check(
    f"finite and greater than 1, at most {_MOST:g}", lambda a: (a > 1) & (a <= _MOST)
)


def single(name: str, value: object) -> None:
    """Raise if `value` is not a single number, for example if it is a list."""
    if not isinstance(value, Real | np.generic):
        raise WriteampError(f"{name} is {shown(value)}; it must be a number")


def require_broadcast(**arrays: FloatArray) -> None:
    """Raise if the named arrays cannot be broadcast against each other."""
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = [f"{name} {array.shape}" for name, array in arrays.items()]
        raise WriteampError(
            f"shapes do not broadcast against each other: {', '.join(shapes[:-1])} and {shapes[-1]}"
        ) from None


def elementwise(function: Callable[..., float], **arrays: FloatArray) -> FloatOrArray:
    """Call `function` for each element of the broadcast arrays, with positional arguments.

    Models that solve an equation for each element use it. Scalars give a scalar.
    """
    require_broadcast(**arrays)
    result = np.vectorize(function, otypes=[np.float64])(*arrays.values())
    return cast(FloatOrArray, result[()])


def raise_first(name: str, array: FloatArray, bad: _Mask, domain: str) -> None:
    """Raise with the index and value of the first element marked in `bad`, if any."""
    if not bad.any():
        return
    where = np.unravel_index(int(np.argmax(bad)), bad.shape)
    index = f"[{', '.join(str(int(i)) for i in where)}]" if array.ndim else ""
    raise WriteampError(f"{name}{index} must be {domain}, not {float(array[where])!r}")


def _as_floats(name: str, value: npt.ArrayLike, domain: str) -> FloatArray:
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # big integers and fractions are converted; None raises
            return np.array([float(item) for item in array.flat]).reshape(array.shape)
        # NumPy would convert booleans and strings to numbers, but they are mistakes.
        if array.dtype.kind not in "iuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise WriteampError(f"{name} must be {domain}, not {shown(value)}") from None
