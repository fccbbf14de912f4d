"""The Uniform Distribution model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.models._arguments import FloatOrArray, positive


def uniform_distribution(op: npt.ArrayLike) -> FloatOrArray:
    """Write amplification if valid counts spread evenly above the victim's: (1 + op) / (2 op).

    Source: Park et al. 2017, section 3.2, eq. 4 (the paper's ρ is our `op`). The formula falls
    below 1, which no drive does, for op > 1; it is returned as it is.

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.

    Returns:
        Flash pages programmed per host page written, in the shape of `op` (a NumPy scalar for a
        scalar).

    Raises:
        WriteampError: `op` is not a finite number greater than 0.
    """
    ratio = positive("op", op)
    with np.errstate(over="ignore"):  # below 2.8e-309 the true value is beyond float64
        return np.float64(0.5) + 0.5 / ratio
