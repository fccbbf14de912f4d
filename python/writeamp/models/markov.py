"""The Markov model of greedy collection."""

from __future__ import annotations

import numpy.typing as npt

from writeamp.models._arguments import FloatOrArray, positive, require_broadcast, whole
from writeamp.models.expected_value import amplification


def markov(op: npt.ArrayLike, pages_per_block: npt.ArrayLike) -> FloatOrArray:
    """Write amplification of greedy collection with blocks of `pages_per_block` pages.

    Source: Park et al. 2017, section 3.4, eqs. 6-7 (their ρ is our `op`, their N our
    `pages_per_block`). With k = 1 + 1/(2N) the equations are A = A_ev(k(1+ρ) − 1)/k, where A_ev is
    the Expected Value model, which is computed without loss near ρ = 0. The formula tends to
    1/k < 1, which no drive does, as ρ grows; it is returned as it is.

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.
        pages_per_block: pages in one erase unit, broadcast against `op`, integers of at least 1.

    Returns:
        Flash pages programmed per host page written, in the broadcast shape (a NumPy scalar for
        scalars).

    Raises:
        WriteampError: an argument is outside its domain, or the shapes do not broadcast.
    """
    ratio = positive("op", op)
    pages = whole("pages_per_block", pages_per_block)
    require_broadcast(op=ratio, pages_per_block=pages)
    half_page = 0.5 / pages
    # k(1+ρ) − 1, written as a sum of positive terms.
    return amplification(ratio + (1.0 + ratio) * half_page) / (1.0 + half_page)
