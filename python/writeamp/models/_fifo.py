"""Collection in order of age (FIFO; also called LRU in the papers)."""

from __future__ import annotations

from dataclasses import replace

import numpy.typing as npt

from writeamp.fields.arguments import checked
from writeamp.models._arguments import FloatOrArray
from writeamp.models._describes import Describes
from writeamp.models._expected_value import MODEL as EXPECTED_VALUE
from writeamp.models._expected_value import expected_value


@checked
def fifo(op: npt.ArrayLike) -> FloatOrArray:
    """Write amplification if the block that was filled first is always the victim.

    Source: Desnoyers 2012 (LRU cleaning), which Park et al. 2017 mention in sections 3.4 and 5.
    A block is collected after all T blocks were filled once more, that is T·N/A host writes later.
    A page of it is still valid if these writes all went to other addresses; each hits its address
    with probability 1/(U·N): δ = e^(−(T/U)/A) = e^(−(1+ρ)(1−δ)). This is the equation of the
    Expected Value model, so the two are the same function.

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.

    Returns:
        Flash pages programmed per host page written, in the shape of `op` (a NumPy scalar for a
        scalar).

    Raises:
        WriteampError: `op` is not a finite number greater than 0.

    >>> import writeamp as wa
    >>> bool(wa.models.fifo(op=0.28) == wa.models.expected_value(0.28))
    True
    """
    return expected_value(op)


MODEL = replace(
    EXPECTED_VALUE,
    name="fifo",
    summary="collection in order of age; the same function as expected-value",
    source="Desnoyers 2012 (LRU cleaning), cited by Park et al. 2017, sections 3.4 and 5",
    function=fifo,
    describes=(
        Describes(
            victims="fifo",
            row="fifo",
            label="Expected Value (FIFO, uniform writes)",
            is_reference=True,
        ),
    ),
)
