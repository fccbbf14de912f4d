"""Confidence interval of the op that has a given write amplification.

The interval is found from runs on drives around the result. At its lower end, the whole 95%
interval of WA is above the target; at its upper end, below. If WA is not monotone in op, the
interval contains every op at which WA was seen to cross the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from writeamp.errors import RefusedError
from writeamp.studies.op.probes import Probe, Probes, is_known

# Number of op values tried on either side of the result, between half and twice its op, to find
# other crossings of the target WA. The WA of a looped trace can jump between sizes. For traces,
# twice as many values are tried, and the three drives next to the result on each side.
_OCTAVE_STEPS, _OCTAVE_STEPS_OF_TRACES = 4, 8
_NEIGHBOURS = 3
# Precision of an end of the interval, as a share of its distance from the result. With random
# draws, a finer one is useless. Every second step halves the gap between the nearest uncertain and
# certain drive. The other steps interpolate the bound of WA, and go beyond its crossing by this
# factor.
_RESOLUTION, _RESOLUTION_OF_DRAWS = 0.05, 0.25
_BEYOND_THE_LINE = 1.25
# A warning is given if WA rises with more spare space by more than this share of WA. With random
# draws, the rise must also exceed this multiple of the noise.
_MATERIAL_RISE = 0.01
_UNEXPLAINED = 2.0


@dataclass(frozen=True)
class OpInterval:
    """Interval of the op that gives the target WA; `low` and `high` are in blocks per plane.

    Both are None if WA of the drive found is not steady or has no interval, or if its scaling error
    is unknown. An end is open if no drives beyond it could be run, or if WA at the end is not
    steady. `rise` is the largest rise of WA with more spare space between two drives, or None if
    that rise is negligible.
    """

    low: int | None
    high: int | None
    is_open: tuple[bool, bool]
    rise: tuple[Probe, Probe] | None


def op_interval(probes: Probes, answer: Probe) -> OpInterval:
    """Return the interval of op around the result, after running further drives near it."""
    probes.all_at(_around(probes, answer))
    if not is_known(answer) or math.isnan(probes.error):
        return OpInterval(None, None, (True, True), _largest_rise(probes))
    low, low_open = _end(probes, answer, -1)
    high, high_open = _end(probes, answer, 1)
    return OpInterval(low, high, (low_open, high_open), _largest_rise(probes))


def _around(probes: Probes, answer: Probe) -> list[int]:
    """Return the sizes (blocks per plane) at which to look for other crossings of the target."""
    sizes = probes.sizes
    octave = _OCTAVE_STEPS if sizes.has_draws else _OCTAVE_STEPS_OF_TRACES
    op = sizes.op(answer.blocks)
    steps = (step for step in range(-octave, octave + 1) if step)
    block_counts = {round(sizes.blocks_at(op * 2 ** (step / octave))) for step in steps}
    if not sizes.has_draws:
        block_counts |= {answer.blocks + step for step in range(-_NEIGHBOURS, _NEIGHBOURS + 1)}
    return sorted(blocks for blocks in block_counts if sizes.fewest <= blocks <= sizes.most)


def _end(probes: Probes, answer: Probe, direction: int) -> tuple[int, bool]:
    """Return the end of the interval on one side, and whether it is open.

    Args:
        probes: drives that were run.
        answer: the drive that was found.
        direction: -1 for the end towards smaller drives, 1 for the end towards larger drives.
    """
    uncertain = [
        probe
        for probe in probes.tried.values()
        if direction * (probe.blocks - answer.blocks) >= 0
        and not _is_certain(probes, probe, direction)
    ]
    if not uncertain:
        return answer.blocks, False
    inner = max(uncertain, key=lambda probe: direction * probe.blocks)
    outer = _certain_beyond(probes, inner, direction)
    if outer is None:
        return max(probes.tried, key=lambda blocks: direction * blocks), True
    step = 0
    while abs(outer.blocks - inner.blocks) > _resolution_blocks(probes, answer, outer):
        step += 1
        middle = probes.at(_between(probes, inner, outer, direction, halved=step % 2 == 0))
        if _is_certain(probes, middle, direction):
            outer = middle
        else:
            inner = middle
    return outer.blocks, not is_known(outer)


def _certain_beyond(probes: Probes, inner: Probe, direction: int) -> Probe | None:
    """Return a drive beyond `inner` whose WA is certainly above or below the target.

    Direction -1 looks for a smaller drive with a WA above the target, 1 for a larger drive with a
    WA below it. The drive is the nearest one tried so far, or else the first one found by
    halving or doubling the spare space. None if no such drive can be run.
    """
    beyond = [
        candidate
        for candidate in probes.tried.values()
        if direction * (candidate.blocks - inner.blocks) > 0
    ]
    if beyond:
        return min(beyond, key=lambda candidate: direction * candidate.blocks)
    sizes, blocks = probes.sizes, inner.blocks
    while True:
        blocks = sizes.with_spare(blocks, 2.0**direction)
        if not sizes.fewest <= blocks <= sizes.most:
            return None
        try:
            probe = probes.at(blocks)
        except RefusedError:  # the drive is too small for the manager
            return None
        if _is_certain(probes, probe, direction):
            return probe


def _resolution_blocks(probes: Probes, answer: Probe, outer: Probe) -> int:
    share = _RESOLUTION_OF_DRAWS if probes.sizes.has_draws else _RESOLUTION
    return max(1, int(share * abs(outer.blocks - answer.blocks)))


def _between(probes: Probes, inner: Probe, outer: Probe, direction: int, *, halved: bool) -> int:
    """Return a size (blocks per plane) between an uncertain drive and a certain one."""
    share = 0.5
    if not halved:
        near, far = (
            abs(_bound(probes, probe, direction) - probes.target_wa) for probe in (inner, outer)
        )
        share = min(1.0, _BEYOND_THE_LINE * near / (near + far))
    gap = abs(outer.blocks - inner.blocks)
    return inner.blocks + direction * min(max(round(share * gap), 1), gap - 1)


def _bound(probes: Probes, probe: Probe, direction: int) -> float:
    """Return the lower end of a drive's WA interval (direction -1), or the upper end (1).

    If the drive is scaled down, the scaling error is included.
    """
    return probe.low - probes.error if direction < 0 else probe.high + probes.error


def _is_certain(probes: Probes, probe: Probe, direction: int) -> bool:
    """Return whether a WA interval is entirely above the target (direction -1) or below it (1)."""
    return direction * (probes.target_wa - _bound(probes, probe, direction)) > 0


def _largest_rise(probes: Probes) -> tuple[Probe, Probe] | None:
    """Return the two drives with the largest rise of WA with spare space; None if negligible."""
    least: Probe | None = None
    largest: tuple[Probe, Probe] | None = None
    for probe in probes.in_order():
        if least is not None and _is_material(probes, least, probe):
            is_larger = largest is None or probe.wa - least.wa > largest[1].wa - largest[0].wa
            largest = (least, probe) if is_larger else largest
        if least is None or probe.wa < least.wa:
            least = probe
    return largest


def _is_material(probes: Probes, smaller: Probe, larger: Probe) -> bool:
    rise = larger.wa - smaller.wa
    explained = _UNEXPLAINED * (smaller.slack + larger.slack) if probes.sizes.has_draws else 0.0
    return rise > max(_MATERIAL_RISE * smaller.wa, explained)
