"""Seeds of the replicas of a study: one rule for all of them."""

from __future__ import annotations

import numpy as np

# Seeds of replicas are below 2^48, so that every program that reads them keeps their digits.
_BITS = 48


def replica_seed(seed: int, replica: int) -> int:
    """Return the seed of a replica: the study's own for the first, and others far from it.

    It depends on nothing else, so that all managers, and all other choices of a study, share random
    numbers, and two studies whose seeds a user counts up share none.

    >>> replica_seed(1, 0)
    1
    >>> len({replica_seed(seed, replica) for seed in (1, 2, 3) for replica in (0, 1, 2)})
    9
    """
    if replica == 0:
        return seed
    drawn = np.random.SeedSequence([seed, replica]).generate_state(1, np.uint64)[0]
    return int(drawn) >> (64 - _BITS)
