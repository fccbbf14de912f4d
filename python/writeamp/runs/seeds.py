"""Seeds of the replicas of a study, derived by one rule."""

from __future__ import annotations

import numpy as np

# Seeds of replicas have at most this many bits. JSON readers that store integers in 53 bits then
# keep all digits.
_BITS = 48


def replica_seed(seed: int, replica: int) -> int:
    """Return the seed of a replica: the study's own seed for the first, else a derived seed.

    The seed depends only on the study's seed and the replica's number. All managers and other
    settings in a study therefore use the same random numbers. Studies with consecutive seeds have
    no seed in common.

    >>> replica_seed(1, 0)
    1
    >>> len({replica_seed(seed, replica) for seed in (1, 2, 3) for replica in (0, 1, 2)})
    9
    """
    if replica == 0:
        return seed
    drawn = np.random.SeedSequence([seed, replica]).generate_state(1, np.uint64)[0]
    return int(drawn) >> (64 - _BITS)
