"""Check of a write amplification that only a mistaken unit explains."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.pairing import Pairing
from writeamp.drives.counters.verdicts import Check
from writeamp.vssd.log_pages.smart import DATA_UNIT_BYTES

# Outside of this no drive writes; inside of that one may, once its unit is put right.
_LEAST, _MOST = 0.01, 1e4
_LIKELY_LEAST, _LIKELY_MOST = 0.9, 1000.0


def unit_checks(pairing: Pairing) -> Iterator[Check]:
    """Yield a failed check if a counter seems to be in units of 512,000 bytes, or not to be.

    Some tools print units of 512,000 bytes as bytes, or bytes as such units.
    """
    if pairing.host is None or pairing.flash is None:
        return
    wa = float(pairing.wa.nominal)
    if _LEAST <= wa <= _MOST:
        return
    corrected = wa * DATA_UNIT_BYTES if wa < _LEAST else wa / DATA_UNIT_BYTES
    what = "counts units of 512,000 bytes" if wa < _LEAST else "counts bytes"
    if _LIKELY_LEAST <= corrected <= _LIKELY_MOST:
        yield Check(
            "unit of the flash counter",
            "fail",
            f"flash over host is {wa:.4g}; it would be {corrected:.4g} if the flash's counter "
            f"{what}, as some tools have it: compare erases x capacity",
        )
