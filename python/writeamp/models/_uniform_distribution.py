"""The Uniform Distribution model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.fields.arguments import checked
from writeamp.models._arguments import FloatOrArray, amplified, positive
from writeamp.models._model import Model, ModelInputs, few_spare_blocks


@checked
def uniform_distribution(op: npt.ArrayLike) -> FloatOrArray:
    """WA if valid pages per block spread evenly from the victim's up: (1 + op) / (2 op).

    Source: Park et al. 2017, section 3.2, eq. 4 (the paper's ρ is `op`). For op > 1 the formula
    falls below 1, which is impossible; it is returned unchanged.

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.

    Returns:
        Flash pages programmed per host page written, in the shape of `op` (a NumPy scalar for a
        scalar).

    Raises:
        WriteampError: `op` is not a finite number greater than 0.

    >>> import writeamp as wa
    >>> round(float(wa.models.uniform_distribution(0.28)), 4)
    2.2857
    """
    ratio = positive("op", op)
    with np.errstate(over="ignore"):  # below op 2.8e-309 the true WA is beyond float64
        return np.float64(0.5) + 0.5 / ratio


def _required_op(wa: npt.ArrayLike) -> FloatOrArray:
    target = amplified("wa", wa)
    # 1 / (2 wa − 1), written so that no finite wa overflows.
    return 0.5 / (target - 0.5)


def _falls_below_one(drive: ModelInputs) -> str | None:
    if drive.op > 1:
        return f"op {drive.op:.4g} is above 1, where the formula gives an impossible WA below 1"
    return None


MODEL = Model(
    name="uniform-distribution",
    summary="valid pages per block spread evenly above the victim's: (1 + op) / (2 op)",
    assumes="uniform random writes, a full drive, greedy collection, and evenly spread "
    "valid counts, which real drives do not have; gives WA below 1 (impossible) for op > 1",
    source="Park et al. 2017, section 3.2, eq. 4 (after Agarwal and Marrow 2010)",
    parameters=("op",),
    function=uniform_distribution,
    inverse=_required_op,
    rules=(few_spare_blocks, _falls_below_one),
)
