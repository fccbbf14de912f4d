"""The probabilities of reads, programs and erases, which rounding must not take above one."""

from __future__ import annotations

import numpy as np

from writeamp.drives.pins.capture import Durations
from writeamp.drives.pins.classes import CLASSES, Classification, shares
from writeamp.drives.pins.four_level import count


def test_shares_that_add_up_to_more_than_one_by_rounding_are_counted_as_one() -> None:
    # Three bells of one kind, whose probabilities add up to 1 + 2⁻⁵².
    rows = np.array([[0.1, 0.2, 0.7 + 2**-52], [0.3, 0.3, 0.4]])
    assert rows[0].sum() > 1
    found = shares(Classification(("program",) * 3, 1.0), rows)
    assert all(np.all((found[name] >= 0) & (found[name] <= 1)) for name in CLASSES)
    durations = Durations(np.array([1.0, 2.0]), np.array([2.0, 3.0]), np.array([9, 9], np.uint64))
    assert count(durations, found)["program"].error == 0
