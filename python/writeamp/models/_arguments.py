"""The checks that every model makes on its arguments."""

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

# Models that follow every page count of a block take time and memory in proportion to it.
MAX_PAGES_PER_BLOCK = 1 << 20


@dataclass(frozen=True)
class _Domain:
    """Domain of an argument, in words and as a test that is false for NaN."""

    words: str
    holds: Callable[[FloatArray], _Mask]


def _is_integer(array: FloatArray) -> _Mask:
    is_integer: _Mask = np.isfinite(array) & (array == np.floor(array))
    return is_integer


# Far beyond every drive, and far within what can be inverted and still be a float.
_LEAST, _MOST = 1e-300, 1e300
# Above it a float is no count any more.
_MOST_COUNT = 2**53
# As the engine draws them.
_MOST_CHOICES = 2**32 - 1

_POSITIVE = _Domain(
    f"finite and greater than 0, from {_LEAST:g} to {_MOST:g}",
    lambda a: (a >= _LEAST) & (a <= _MOST),
)
_WHOLE = _Domain(
    "an integer of at least 1",
    lambda a: _is_integer(a) & (a >= 1) & (a <= _MOST_COUNT),
)
_COUNT = _Domain(
    "an integer of at least 0",
    lambda a: _is_integer(a) & (a >= 0) & (a <= _MOST_COUNT),
)
_WHOLE_OR_INFINITE = _Domain(
    "an integer of at least 1 and below 2^32, or infinite",
    lambda a: (_is_integer(a) & (a >= 1) & (a <= _MOST_CHOICES)) | (a == np.inf),
)
_BLOCK_PAGES = _Domain(
    f"an integer of at least 1 and at most {MAX_PAGES_PER_BLOCK}",
    lambda a: _is_integer(a) & (a >= 1) & (a <= MAX_PAGES_PER_BLOCK),
)
_LARGE_OR_INFINITE = _Domain("at least 2, or infinite", lambda a: a >= 2)
_PROPER_SHARE = _Domain("greater than 0 and less than 1", lambda a: (a >= _LEAST) & (a < 1))
_SHARE = _Domain("greater than 0 and at most 1", lambda a: (a >= _LEAST) & (a <= 1))
_SHARE_OR_ZERO = _Domain("from 0 to 1", lambda a: (a >= 0) & (a <= 1))
_AMPLIFIED = _Domain(
    f"finite and greater than 1, at most {_MOST:g}", lambda a: (a > 1) & (a <= _MOST)
)


def positive(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not from 1e-300 to 1e300."""
    return _checked(name, value, _POSITIVE)


def whole(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not an integer of at least 1."""
    return _checked(name, value, _WHOLE)


def count(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not an integer of at least 0."""
    return _checked(name, value, _COUNT)


def whole_or_infinite(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is neither infinite nor a whole number."""
    return _checked(name, value, _WHOLE_OR_INFINITE)


def block_pages(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not from 1 to MAX_PAGES_PER_BLOCK."""
    return _checked(name, value, _BLOCK_PAGES)


def large_or_infinite(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not a number of at least 2."""
    return _checked(name, value, _LARGE_OR_INFINITE)


def proper_share(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not strictly between 0 and 1."""
    return _checked(name, value, _PROPER_SHARE)


def share(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not above 0 and at most 1."""
    return _checked(name, value, _SHARE)


def share_or_zero(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not from 0 to 1."""
    return _checked(name, value, _SHARE_OR_ZERO)


def amplified(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not a finite number above 1."""
    return _checked(name, value, _AMPLIFIED)


def single(name: str, value: object) -> None:
    """Raise if `value` is no number of its own, such as a list of some."""
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
    """Call `function` once for each element of the broadcast arrays, by position.

    For models that solve an equation of their own for each element; a scalar gives a scalar.
    """
    require_broadcast(**arrays)
    result = np.vectorize(function, otypes=[np.float64])(*arrays.values())
    return cast(FloatOrArray, result[()])


def raise_first(name: str, array: FloatArray, bad: _Mask, domain: str) -> None:
    """Raise with the index and value of the first element marked in `bad`, if there is one."""
    if not bad.any():
        return
    where = np.unravel_index(int(np.argmax(bad)), bad.shape)
    index = f"[{', '.join(str(int(i)) for i in where)}]" if array.ndim else ""
    raise WriteampError(f"{name}{index} must be {domain}, not {float(array[where])!r}")


def _checked(name: str, value: npt.ArrayLike, domain: _Domain) -> FloatArray:
    array = _as_floats(name, value, domain.words)
    raise_first(name, array, ~domain.holds(array), domain.words)
    return array


def _as_floats(name: str, value: npt.ArrayLike, domain: str) -> FloatArray:
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # integers beyond 64 bits, fractions; None must not become NaN
            return np.array([float(item) for item in array.flat]).reshape(array.shape)
        # Booleans and strings convert to numbers without complaint; neither is ever meant.
        if array.dtype.kind not in "iuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise WriteampError(f"{name} must be {domain}, not {shown(value)}") from None
