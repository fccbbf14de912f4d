"""Loads of phases: the workload of each known pattern on a simulated drive."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown

# Measured WA is 1.10 to 1.14, also after a fill of the whole drive. fio-zipf of the stated exponent
# predicts 1.6 to 2.1 on an empty drive, and 2.8 to 4.4 after a fill (docs/twin-phases.md).
_FIO_ZIPF = (
    "the generator that SSD-iq calls fiozipf writes fewer addresses than fio's zipf of this "
    "exponent"
)
# Details of SSD-iq's zns, whose pages are requests of 512 KiB.
_ZNS = re.compile(r"activeZones: ([1-9]\d{0,6}) pagesPerZone: ([1-9]\d{0,8})")
_ZNS_BYTES = 512 << 10


class ZonesOfLoad(NamedTuple):
    """Size of the zones, in bytes, and the number of zones that are written at a time."""

    zone_bytes: int
    active: int


@dataclass(frozen=True)
class PhaseLoad:
    """Load of a phase on a simulated drive.

    Attributes:
        workload: spec of the workload; None if the load is not modelled.
        is_fill: True if each page of the span is written once and all else is trimmed, so the data
            before the phase does not matter.
        zones: zones that are written in order; None for other loads.
        reason: why the load is not modelled; None if it is.
        note: how the workload differs from the load; None if it does not.
    """

    workload: str | None = None
    is_fill: bool = False
    zones: ZonesOfLoad | None = None
    reason: str | None = None
    note: str | None = None


def _zipf(details: str) -> PhaseLoad:
    return PhaseLoad(f"zipf(s={_exponent(details)})")


def _unshuffled_zipf(details: str) -> PhaseLoad:
    return PhaseLoad(
        f"zipf(s={_exponent(details)})",
        note="zipf-noshuffle is predicted as zipf-shuffle, because a drive that maps pages treats "
        "neighbouring hot pages as scattered ones; a higher measured WA is unexplained",
    )


def _zones(details: str) -> PhaseLoad:
    match = _ZNS.fullmatch(details)
    if match is None:
        raise WriteampError(
            f"the details of zns are {shown(details)}; they must be 'activeZones: N pagesPerZone: "
            "N', with pages of 512 KiB"
        )
    zones = ZonesOfLoad(int(match[2]) * _ZNS_BYTES, int(match[1]))
    workload = f"zones-sequential(zone={zones.zone_bytes},active={zones.active},bs={_ZNS_BYTES})"
    return PhaseLoad(workload, zones=zones)


def _exponent(details: str) -> float:
    try:
        exponent = float(details)
    except ValueError:
        exponent = 0.0
    if not 0 < exponent <= 10:
        raise WriteampError(
            f"the details of zipf are {shown(details)}; they must be its exponent, above 0 and at "
            "most 10"
        )
    return exponent


def _plain(load: PhaseLoad) -> Callable[[str], PhaseLoad]:
    def load_of_plain(details: str) -> PhaseLoad:
        if details:
            raise WriteampError(f"the details are {shown(details)}; this pattern has none")
        return load

    return load_of_plain


# Loads by pattern, from the details of the phase.
_LOADS: dict[str, Callable[[str], PhaseLoad]] = {
    "sequential": _plain(PhaseLoad("sequential", is_fill=True)),
    "sequential-noshuffle": _plain(PhaseLoad("sequential", is_fill=True)),
    "sequential-shuffle": _plain(PhaseLoad("permutation", is_fill=True)),
    "uniform": _plain(PhaseLoad("uniform")),
    "zipf-shuffle": _zipf,
    "zipf-noshuffle": _unshuffled_zipf,
    "fiozipf-shuffle": lambda _: PhaseLoad(reason=_FIO_ZIPF),
    "fiozipf-noshuffle": lambda _: PhaseLoad(reason=_FIO_ZIPF),
    "zns-noshuffle": _zones,
}


def load_of(pattern: str, details: str) -> PhaseLoad:
    """Return the load of a pattern with these details.

    Raises:
        WriteampError: the pattern is unknown, or its details are not valid.
    """
    if pattern not in _LOADS:
        raise WriteampError(
            f"the pattern {shown(pattern)} is unknown; known are {', '.join(_LOADS)}"
        )
    return _LOADS[pattern](details)
