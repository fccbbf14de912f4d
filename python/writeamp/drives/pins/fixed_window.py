"""Classification of operations by fixed windows of their durations, as in paper 5."""

from __future__ import annotations

from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.classes import CLASSES, Shares


def shares(durations: Durations, window_us: tuple[float, float]) -> Shares:
    """Return the share of each class in each bin, by the window that its middle lies in.

    Within (low, high) µs a pulse is a program, below a read, above an erase.

    Args:
        durations: bins, shape (n,).
        window_us: the window of programs (paper 5, section III C and Table I).
    """
    middle_us: Floats = durations.middle_us
    low_us, high_us = window_us
    is_of = {
        "read": middle_us <= low_us,
        "program": (middle_us > low_us) & (middle_us < high_us),
        "erase": middle_us >= high_us,
    }
    return {name: is_of[name].astype(float) for name in CLASSES}
