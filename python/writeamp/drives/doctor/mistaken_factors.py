"""Factors by which an amount is wrong that was read in another unit."""

from __future__ import annotations

FACTORS = {
    1000 / 1024: "kB read as KiB",
    1.024: "KiB read as kB",
    1000**2 / 1024**2: "MB read as MiB",
    1.024**2: "MiB read as MB",
    1000**3 / 1024**3: "GB read as GiB",
    1.024**3: "GiB read as GB",
    8.0: "sectors of 512 bytes read as 4 KiB",
    1 / 8: "blocks of 4 KiB read as sectors of 512 bytes",
    512.0: "bytes read as sectors of 512 bytes",
    1 / 512: "sectors of 512 bytes read as bytes",
    1000.0: "units of 512,000 bytes read as sectors of 512",
    1 / 1000: "sectors of 512 bytes read as units of 512,000",
}
_CLOSE = 0.003
# A factor near 1 may be some other bytes; only a close match is one of units.
_NEAR_ONE = 1.1


def mistaken_factor(factor: float) -> str | None:
    """Return which units were mistaken if an amount is off by a factor; None if none fit.

    >>> mistaken_factor(8.003), mistaken_factor(1.5)
    ('sectors of 512 bytes read as 4 KiB', None)
    """
    for known, what in FACTORS.items():
        is_near_one = 1 / _NEAR_ONE < known < _NEAR_ONE
        close = _CLOSE if is_near_one else 10 * _CLOSE
        if abs(factor / known - 1) <= close:
            return what
    return None
