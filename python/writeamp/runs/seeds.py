"""Seeds of the replicas of a study, derived by one rule."""

from __future__ import annotations

import numpy as np

# Seeds of replicas are below 2^48, so that JSON readers with 53-bit integers keep all digits.
_BITS = 48


def replica_seed(seed: int, replica: int) -> int:
    """Return the seed of a replica: the study's own seed for the first, derived ones for others.

    The seed depends on nothing else, so that all managers and other choices of a study share random
    numbers. Studies with consecutive seeds share none.
    >>> replica_seed(1, 0)
    1
    >>> len({replica_seed(seed, replica) for seed in (1, 2, 3) for replica in (0, 1, 2)})
    9
    """
    if replica == 0:
        return seed
    drawn = np.random.SeedSequence([seed, replica]).generate_state(1, np.uint64)[0]
    return int(drawn) >> (64 - _BITS)
