"""The checks that every model makes on its arguments."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError

FloatArray: TypeAlias = npt.NDArray[np.float64]
FloatOrArray: TypeAlias = np.float64 | FloatArray


_POSITIVE = "finite and greater than 0"
_WHOLE = "an integer of at least 1"


def positive(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not a finite number above 0."""
    array = _as_floats(name, value, _POSITIVE)
    _raise_first(name, array, ~(np.isfinite(array) & (array > 0)), _POSITIVE)
    return array


def whole(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return `value` as float64, or raise if any element is not an integer of at least 1."""
    array = _as_floats(name, value, _WHOLE)
    bad = ~(np.isfinite(array) & (array >= 1) & (array == np.floor(array)))
    _raise_first(name, array, bad, _WHOLE)
    return array


def require_broadcast(**arrays: FloatArray) -> None:
    """Raise if the named arrays cannot be broadcast against each other."""
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = " and ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise WriteampError(f"shapes do not broadcast against each other: {shapes}") from None


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
        raise WriteampError(f"{name} must be {domain}, not {_shown(value)}") from None


def _raise_first(name: str, array: FloatArray, bad: npt.NDArray[np.bool_], domain: str) -> None:
    if not bad.any():
        return
    where = np.unravel_index(int(np.argmax(bad)), bad.shape)
    index = f"[{', '.join(str(int(i)) for i in where)}]" if array.ndim else ""
    raise WriteampError(f"{name}{index} must be {domain}, not {float(array[where])!r}")


def _shown(value: object, longest: int = 60) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= longest else f"{text[:longest]}..."
