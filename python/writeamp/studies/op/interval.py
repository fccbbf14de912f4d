"""Interval of the op that has a write amplification, from drives around the one found.

At its ends stand drives whose WA is above and below the target for certain, by the intervals of
their own runs. Where WA is not monotone in op, every crossing that was found lies within.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from writeamp.errors import RefusedError
from writeamp.studies.op.probes import Probe, Probes, is_known

# Around the op found, so many larger and smaller op, up to twice and half of it, are tried for
# other crossings. Of a trace, whose loop can lock in phase, they are more, and so many neighbours.
_OCTAVE_STEPS, _OCTAVE_STEPS_OF_TRACES = 4, 8
_NEIGHBOURS = 3
# An end is found to this share of its distance from the op found: of random draws the intervals
# themselves are no finer. Every other step halves what is left, the others go a little beyond where
# the ends of the intervals would meet the target.
_RESOLUTION, _RESOLUTION_OF_DRAWS = 0.05, 0.25
_BEYOND_THE_LINE = 1.25
# A rise of WA with more spare space that a reader should hear of, as a share of WA; where the host
# draws at random it must also exceed so many times what the intervals explain.
_MATERIAL_RISE = 0.01
_UNEXPLAINED = 2.0


@dataclass(frozen=True)
class OpInterval:
    """Bounds of op, in blocks a plane; None where no steady WA has an interval to decide by.

    An end is open if drives beyond it could not be tried, or if the WA there does not last. `rise`
    is the largest rise of WA with more spare space between two drives that were tried, if there is
    a material one.
    """

    low: int | None
    high: int | None
    is_open: tuple[bool, bool]
    rise: tuple[Probe, Probe] | None


def op_interval(probes: Probes, answer: Probe) -> OpInterval:
    """Return the interval around the drive that was found, after trying others near it."""
    probes.all_at(_around(probes, answer))
    if not is_known(answer) or math.isnan(probes.error):
        return OpInterval(None, None, (True, True), _largest_rise(probes))
    low, low_open = _end(probes, answer, -1)
    high, high_open = _end(probes, answer, 1)
    return OpInterval(low, high, (low_open, high_open), _largest_rise(probes))


def _around(probes: Probes, answer: Probe) -> list[int]:
    """Return the sizes at which to look for other crossings of the target."""
    sizes = probes.sizes
    octave = _OCTAVE_STEPS if sizes.has_draws else _OCTAVE_STEPS_OF_TRACES
    op = sizes.op(answer.blocks)
    steps = (step for step in range(-octave, octave + 1) if step)
    wanted = {round(sizes.blocks_at(op * 2 ** (step / octave))) for step in steps}
    if not sizes.has_draws:
        wanted |= {answer.blocks + step for step in range(-_NEIGHBOURS, _NEIGHBOURS + 1)}
    return sorted(blocks for blocks in wanted if sizes.fewest <= blocks <= sizes.most)


def _end(probes: Probes, answer: Probe, way: int) -> tuple[int, bool]:
    """Return the end of the interval on one side, and whether it is open.

    Args:
        probes: what was tried.
        answer: the drive that was found.
        way: -1 for the side of smaller drives, 1 for that of larger ones.
    """
    uncertain = [
        one
        for one in probes.tried.values()
        if way * (one.blocks - answer.blocks) >= 0 and not _is_certain(probes, one, way)
    ]
    if not uncertain:
        return answer.blocks, False
    inner = max(uncertain, key=lambda one: way * one.blocks)
    outer = _certain_beyond(probes, inner, way)
    if outer is None:
        return max(probes.tried, key=lambda blocks: way * blocks), True
    step = 0
    while abs(outer.blocks - inner.blocks) > _resolution_blocks(probes, answer, outer):
        step += 1
        middle = probes.at(_between(probes, inner, outer, way, halved=step % 2 == 0))
        if _is_certain(probes, middle, way):
            outer = middle
        else:
            inner = middle
    return outer.blocks, not is_known(outer)


def _certain_beyond(probes: Probes, inner: Probe, way: int) -> Probe | None:
    """Return the nearest drive beyond one on which WA is certain; None if it is on none."""
    beyond = [one for one in probes.tried.values() if way * (one.blocks - inner.blocks) > 0]
    if beyond:
        return min(beyond, key=lambda one: way * one.blocks)
    sizes, blocks = probes.sizes, inner.blocks
    while True:
        blocks = sizes.with_spare(blocks, 2.0**way)
        if not sizes.fewest <= blocks <= sizes.most:
            return None
        try:
            found = probes.at(blocks)
        except RefusedError:  # too small for the manager
            return None
        if _is_certain(probes, found, way):
            return found


def _resolution_blocks(probes: Probes, answer: Probe, outer: Probe) -> int:
    share = _RESOLUTION_OF_DRAWS if probes.sizes.has_draws else _RESOLUTION
    return max(1, int(share * abs(outer.blocks - answer.blocks)))


def _between(probes: Probes, inner: Probe, outer: Probe, way: int, *, halved: bool) -> int:
    """Return a size between an uncertain drive and a certain one."""
    share = 0.5
    if not halved:
        near, far = (abs(_bound(probes, one, way) - probes.target_wa) for one in (inner, outer))
        share = min(1.0, _BEYOND_THE_LINE * near / (near + far))
    gap = abs(outer.blocks - inner.blocks)
    return inner.blocks + way * min(max(round(share * gap), 1), gap - 1)


def _bound(probes: Probes, probe: Probe, way: int) -> float:
    """Return the end of a drive's WA that decides on which side of the target it is.

    That of the requested drive, where this one stands for it.
    """
    return probe.low - probes.error if way < 0 else probe.high + probes.error


def _is_certain(probes: Probes, probe: Probe, way: int) -> bool:
    """Return whether a drive on that side is on its side of the target for certain."""
    return way * (probes.target_wa - _bound(probes, probe, way)) > 0


def _largest_rise(probes: Probes) -> tuple[Probe, Probe] | None:
    """Return the two drives between which WA rises most with more spare space, if materially."""
    least: Probe | None = None
    found: tuple[Probe, Probe] | None = None
    for one in probes.in_order():
        if least is not None and _is_material(probes, least, one):
            is_larger = found is None or one.wa - least.wa > found[1].wa - found[0].wa
            found = (least, one) if is_larger else found
        if least is None or one.wa < least.wa:
            least = one
    return found


def _is_material(probes: Probes, smaller: Probe, larger: Probe) -> bool:
    rise = larger.wa - smaller.wa
    explained = _UNEXPLAINED * (smaller.slack + larger.slack) if probes.sizes.has_draws else 0.0
    return rise > max(_MATERIAL_RISE * smaller.wa, explained)
