"""Targets as models fit them: as they are, or their logarithms (paper 2, section IV.A)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError

F64 = npt.NDArray[np.float64]


def to_model(target: F64, *, is_log: bool) -> F64:
    """Return the values to fit; a target without the logarithm it needs is a `WriteampError`."""
    if not is_log:
        return target
    if not (target > 0).all():
        row = int(np.argmin(target > 0))
        raise WriteampError(
            f"the target of row {row} is {target[row]:g}; a log target needs values above 0"
        )
    found: F64 = np.log(target)
    return found


def to_target(fitted: F64, *, is_log: bool) -> F64:
    """Return predictions of what was fitted in the unit of the target."""
    found: F64 = np.exp(fitted) if is_log else fitted
    return found
