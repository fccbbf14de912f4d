"""Lifetime of a block: its valid pages after host writes, under uniform random writes."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from writeamp.fields.arguments import checked
from writeamp.models._arguments import (
    FloatOrArray,
    block_pages,
    count,
    positive,
    raise_first,
    require_broadcast,
    whole,
)


@checked
def valid_pages(
    writes: npt.ArrayLike, logical_pages: npt.ArrayLike, pages_per_block: npt.ArrayLike
) -> FloatOrArray:
    """Valid pages G of a block after X host page writes, if all its pages were valid before.

    Source: Dayan et al. 2015, section 4.1, eq. 2: G = B·exp(−X/LBA). It assumes uniform random
    writes to far more logical pages than a block has, and that the block is not collected.

    Args:
        writes: host page writes X since the block was filled, an integer of at least 0.
        logical_pages: logical pages of the drive, LBA, an integer of at least 1.
        pages_per_block: pages of the block, B.

    Returns:
        The expected number of valid pages, in the broadcast shape (a NumPy scalar for scalars).

    Raises:
        WriteampError: an argument is out of range, or the shapes do not broadcast.

    >>> import writeamp as wa
    >>> wa.models.valid_pages([0, 1000], logical_pages=1000, pages_per_block=128).round(2)
    array([128.  ,  47.09])
    """
    host_pages, drive = count("writes", writes), whole("logical_pages", logical_pages)
    block = block_pages("pages_per_block", pages_per_block)
    require_broadcast(writes=host_pages, logical_pages=drive, pages_per_block=block)
    return cast(FloatOrArray, block * np.exp(-host_pages / drive))


@checked
def block_lifetime(
    valid_pages: npt.ArrayLike, logical_pages: npt.ArrayLike, pages_per_block: npt.ArrayLike
) -> FloatOrArray:
    """Host page writes X after which a block has G valid pages: the inverse of `valid_pages`.

    Source: Dayan et al. 2015, section 4.1, eq. 1: X = LBA·ln(B/G), which approximates
    LBA·(1/B + 1/(B−1) + … + 1/(G+1)).

    Args:
        valid_pages: valid pages G, above 0 and at most `pages_per_block`.
        logical_pages: as in `valid_pages`.
        pages_per_block: as in `valid_pages`.

    Returns:
        Host page writes, in the broadcast shape (a NumPy scalar for scalars).

    Raises:
        WriteampError: an argument is out of range, or the shapes do not broadcast.

    >>> import writeamp as wa
    >>> round(float(wa.models.block_lifetime(64, logical_pages=1000, pages_per_block=128)))
    693
    """
    valid, drive = positive("valid_pages", valid_pages), whole("logical_pages", logical_pages)
    block = block_pages("pages_per_block", pages_per_block)
    require_broadcast(valid_pages=valid, logical_pages=drive, pages_per_block=block)
    raise_first("valid_pages", valid + 0 * block, valid > block, "at most the pages per block")
    return cast(FloatOrArray, drive * np.log(block / valid))
