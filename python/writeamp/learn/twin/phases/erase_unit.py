"""Erase unit of a drive, from WA of sequential writes inside zones of several sizes.

A host fills a drive, then trims and rewrites one random zone after another. Zones of at least an
erase unit amplify little. Smaller zones share erase units, whose pages become invalid at different
times: the smaller the zone in erase units, the higher is WA. This curve is simulated at the op of
the drive (`ZoneCurve`), and the measured WA are looked up in it (`erase_unit_interval`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from writeamp._engine import Load
from writeamp.learn.twin.chain import PAGE_BYTES
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.serving import Floats, serve, simulation_of, small_drive
from writeamp.units.ratios import physical_of

# Simulated drive of the curve. WA depends on the ratio of zone to erase unit, and hardly on the
# number of erase units.
_LOGICAL_UNITS = 350
# A prime number, so that zones of half a unit and the like are not aligned to units.
_UNIT_PAGES = 61
# Zone sizes in erase units. Above the last, WA is 1.
_RATIOS = np.unique(np.round(np.geomspace(0.1, 1.4, 19) * _UNIT_PAGES)) / _UNIT_PAGES
# Length of a measured phase in drive writes, and the share of it that is not counted.
_DRIVE_WRITES = 4
_UNCOUNTED = 0.6
_SEEDS = (1, 2, 3)

# WA of a measured phase is uncertain by this share: zones are chosen at random, and the counter
# moves in steps.
_NOISE = 0.02
# A root mean square difference above this share means that zones do not explain the WA.
_MOST_DIFFERENCE = 0.04
# Candidate units are this fine, from a share of the smallest zone to a multiple of the largest.
_STEP = 1.01
_LEAST_SHARE, _MOST_MULTIPLE = 0.25, 8.0


@dataclass(frozen=True)
class ZoneCurve:
    """WA of single zones by their size in erase units, both arrays of the shape (ratios,)."""

    ratios: Floats
    wa: Floats

    def __call__(self, ratios: Floats) -> Floats:
        """Return WA of zones with these sizes in erase units, interpolated."""
        return np.interp(np.log(ratios), np.log(self.ratios), self.wa, right=1.0)


@cache
def zone_curve(op: float) -> ZoneCurve:
    """Simulate the curve at an op: a full drive, four drive writes, WA of the last 40%."""
    wa = [np.mean([_wa_of_zone(ratio, op, seed) for seed in _SEEDS]) for ratio in _RATIOS]
    return ZoneCurve(_RATIOS, np.array(wa))


def erase_unit_interval(
    zone_bytes: Sequence[float], wa: Sequence[float], factor: float, curve: ZoneCurve
) -> tuple[float, float] | str:
    """Return the lowest and highest likely erase unit in bytes, or a reason why it is unknown.

    Args:
        zone_bytes: size of the zones of each phase, with one active zone.
        wa: WA of each phase.
        factor: WA of a sequential fill, from parity and metadata.
        curve: WA by the size of zones in erase units, at the op of the drive.
    """
    sizes = np.asarray(zone_bytes, dtype=float)
    moved = np.asarray(wa, dtype=float) / factor
    if np.unique(sizes).size < 2:
        return "zones of two sizes or more are needed"
    if (moved < 1 + _NOISE).all():
        return "no zone amplifies, so that the erase unit is below the zones or about as large"
    least, most = _LEAST_SHARE * sizes.min(), _MOST_MULTIPLE * sizes.max()
    units = np.exp(np.arange(np.log(least), np.log(most), np.log(_STEP)))
    differences = curve(sizes[None, :] / units[:, None]) / moved - 1
    rms = np.sqrt((differences**2).mean(axis=1))
    best = rms.min()
    if best > _MOST_DIFFERENCE:
        return (
            f"WA differs by {best:.1%} from that of the best erase unit, so that zones alone do "
            "not explain it"
        )
    # Chi-squared of one parameter: a rise by 4 is about two standard deviations.
    noise = max(_NOISE, float(best))
    likely = units[rms**2 <= best**2 + 4 * noise**2 / sizes.size]
    if likely[-1] > units[-2] or likely[0] < units[1]:
        return "the zones are all far from the size of the erase unit"
    return float(likely[0]), float(likely[-1])


def _wa_of_zone(ratio: float, op: float, seed: int) -> float:
    """Return WA of one active zone of `ratio` erase units, each trimmed before it is rewritten."""
    pages = _LOGICAL_UNITS * _UNIT_PAGES
    zone_bytes = round(ratio * _UNIT_PAGES) * PAGE_BYTES
    blocks = round(physical_of(_LOGICAL_UNITS, op))
    drive = small_drive(Variant("single", "greedy"), _UNIT_PAGES, blocks, pages, PAGE_BYTES)
    load = Load.spec(f"zones-sequential:zone={zone_bytes},active=1", pages, PAGE_BYTES)
    simulation = simulation_of(drive, load, seed)
    simulation.fill(0, pages)
    begin, end = (round(length * pages) for length in (_DRIVE_WRITES * _UNCOUNTED, _DRIVE_WRITES))
    return float(serve(simulation, [(begin, end)])[0])
