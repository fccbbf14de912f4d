"""Search for the op at which a drive has a write amplification.

Bisection with common random numbers: all drives have the same logical size and serve the same host
requests, so that they differ only in whole blocks of spare space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from writeamp.errors import RefusedError, WriteampError
from writeamp.studies.op.expected_op import expected_blocks
from writeamp.studies.op.probes import Probe, Probes

# Growth factor of spare space if a drive is too small.
_GROWTH = 2
# Every third step halves the bracket, even if the line through its ends suggests another point.
_HALVING = 3
# A WA is on target if it is closer than this share of its interval's remaining width.
_MET_SHARE = 0.25


@dataclass(frozen=True)
class Crossing:
    """Two drives with the target between their WA; the first is smaller and has a larger WA.

    `above` may be None (no smaller drive can be built) or `below` (no larger one may be run). The
    target
    is then in the interval of the other's WA. If a drive's WA is on target, it is both.
    """

    above: Probe | None
    below: Probe | None

    def nearest(self, target_wa: float) -> Probe:
        """Return the drive with the WA closest to the target."""
        return min(self._both(), key=lambda probe: abs(probe.level - target_wa))

    def other(self, probe: Probe) -> Probe | None:
        """Return the other drive, or None if there is only one."""
        return next(
            (candidate for candidate in self._both() if candidate.blocks != probe.blocks), None
        )

    def _both(self) -> list[Probe]:
        return [probe for probe in (self.above, self.below) if probe is not None]


def find_crossing(probes: Probes) -> Crossing:
    """Return two neighbouring drives with the target between their WA, both run precisely.

    Raises:
        WriteampError: no drive has that WA, or the manager supports none.
    """
    sizes = probes.sizes
    start = expected_blocks(sizes, probes.target_wa, sizes.expected_held_pages)
    crossing = _narrowed(probes, _bracket(probes, start))
    return Crossing(
        crossing.above and probes.precisely(crossing.above.blocks),
        crossing.below and probes.precisely(crossing.below.blocks),
    )


def _bracket(probes: Probes, start: int) -> Crossing:
    """Return two drives on both sides of the target, beginning at `start`."""
    first = _first_taken(probes, start)
    if first.level > probes.target_wa:
        return _bracket_upwards(probes, first)
    return _bracket_downwards(probes, first)


def _first_taken(probes: Probes, start: int) -> Probe:
    """Return the first drive, from `start` on, that the manager supports."""
    refused: RefusedError | None = None
    for blocks in _growing(probes, start):
        try:
            return probes.at(blocks)
        except RefusedError as error:
            refused = refused or error
    assert refused is not None, "at least one size was tried"
    raise refused


def _bracket_upwards(probes: Probes, above: Probe) -> Crossing:
    for blocks in _growing(probes, above.blocks):
        probe = probes.at(blocks)  # the first one is `above` itself
        if probe.level <= probes.target_wa:
            return Crossing(above, probe)
        above = probe
    if above.is_above(probes.target_wa):
        raise _unreachable(probes)
    return Crossing(above, None)


def _growing(probes: Probes, blocks: int) -> Iterator[int]:
    """Yield `blocks`, and larger sizes up to the largest."""
    sizes = probes.sizes
    yield min(blocks, sizes.most)
    while blocks < sizes.most:
        blocks = min(sizes.with_spare(blocks, _GROWTH), sizes.most)
        yield blocks


def _bracket_downwards(probes: Probes, below: Probe) -> Crossing:
    sizes, refused = probes.sizes, probes.sizes.fewest - 1
    while below.blocks - refused > 1:
        # Halve spare space until a drive is refused; then halve the distance to that drive.
        blocks = sizes.with_spare(below.blocks, 1 / _GROWTH)
        if blocks <= refused or refused >= sizes.fewest:
            blocks = (refused + below.blocks) // 2
        try:
            probe = probes.at(blocks)
        except RefusedError:
            refused = blocks
            continue
        if probe.level > probes.target_wa:
            return Crossing(probe, below)
        below = probe
    if below.is_below(probes.target_wa):
        raise _unreachable(probes)
    return Crossing(None, below)


def _narrowed(probes: Probes, bracket: Crossing) -> Crossing:
    """Return two neighbours within a bracket."""
    above, below, step = bracket.above, bracket.below, 0
    while above is not None and below is not None and below.blocks - above.blocks > 1:
        step += 1
        middle = probes.at(_between(probes, above, below, halved=step % _HALVING == 0))
        if _is_met(probes, middle):
            return Crossing(middle, middle)
        if middle.level > probes.target_wa:
            above = middle
        else:
            below = middle
    return Crossing(above, below)


def _is_met(probes: Probes, probe: Probe) -> bool:
    """Return whether the noise of draws exceeds the distance of WA from the target."""
    if not probes.sizes.has_draws or probe.is_coarse:
        return False
    nearer_end = min(probe.wa - probe.low, probe.high - probe.wa)
    return abs(probe.level - probes.target_wa) <= _MET_SHARE * nearer_end


def _between(probes: Probes, above: Probe, below: Probe, *, halved: bool) -> int:
    """Return a size within a bracket: the crossing if WA is linear in 1/op, or the middle."""
    low, high, sizes = above.blocks, below.blocks, probes.sizes
    guess = (low + high) / 2
    if not halved:
        share = (above.level - probes.target_wa) / (above.level - below.level)
        inverse = (1 - share) / sizes.op(low) + share / sizes.op(high)
        guess = sizes.blocks_at(1 / inverse)
    return min(max(round(guess), low + 1), high - 1)


def _unreachable(probes: Probes) -> WriteampError:
    tried, sizes = probes.in_order(), probes.sizes
    least, most = tried[0], tried[-1]
    too_low = least.level > probes.target_wa
    reach = "the most that are tried" if too_low else "the fewest that the manager supports"
    blocks = sizes.drive((most if too_low else least).blocks).geometry.blocks
    values = " and ".join(
        f"{probe.wa:.4f} at op {sizes.op(probe.blocks):.4g}"
        for probe in ([least] if least is most else [least, most])
    )
    return WriteampError(
        f"no op gives {sizes.target_plan.load_name} a WA of {probes.target_wa:.6g} under "
        f"{sizes.target_plan.policy}: WA is {values}, and {blocks:,} blocks for "
        f"{sizes.logical_pages:,} logical pages are {reach}"
    )
