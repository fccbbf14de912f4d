"""Search for the op at which a drive has a write amplification.

The search is a bisection with common random numbers. All drives have the same logical size and
serve the same host requests; they differ only in whole blocks of spare space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from writeamp.errors import RefusedError, WriteampError
from writeamp.studies.op.expected_op import expected_blocks
from writeamp.studies.op.probes import Probe, Probes

# Growth factor of spare space from one tried drive to the next, until WA passes the target.
_GROWTH = 2
# Every third step of the bisection uses the middle of the bracket instead of the interpolated
# point, so that slow convergence of the interpolation ends.
_HALVING = 3
# WA meets the target if it differs by at most this share of the distance from WA to the nearer end
# of its interval. The search then ends.
_MET_SHARE = 0.25


@dataclass(frozen=True)
class Crossing:
    """Two drives whose WA is above and below the target; `above` is the smaller drive.

    `above` is None if no smaller drive can be built, and `below` if no larger drive may be run. The
    target is then in the WA interval of the remaining drive. If a drive's WA meets the target, both
    fields hold that drive.
    """

    above: Probe | None
    below: Probe | None

    def nearest(self, target_wa: float) -> Probe:
        """Return the drive with the WA closest to the target."""
        return min(self._both(), key=lambda probe: abs(probe.level - target_wa))

    def other(self, probe: Probe) -> Probe | None:
        """Return the drive other than `probe`, or None if there is only one."""
        return next(
            (candidate for candidate in self._both() if candidate.blocks != probe.blocks), None
        )

    def _both(self) -> list[Probe]:
        return [probe for probe in (self.above, self.below) if probe is not None]


def find_crossing(probes: Probes) -> Crossing:
    """Return two neighbouring drives with WA above and below the target, both run precisely.

    It can be a single drive, as described for `Crossing`.

    Raises:
        WriteampError: no drive has that WA, or the manager supports no drive.
    """
    sizes = probes.sizes
    start = expected_blocks(sizes, probes.target_wa, sizes.expected_held_pages)
    crossing = _narrowed(probes, _bracket(probes, start))
    return Crossing(
        crossing.above and probes.precisely(crossing.above.blocks),
        crossing.below and probes.precisely(crossing.below.blocks),
    )


def _bracket(probes: Probes, start: int) -> Crossing:
    """Return two drives with WA above and below the target; the first drive tried is `start`."""
    first = _first_taken(probes, start)
    if first.level > probes.target_wa:
        return _bracket_upwards(probes, first)
    return _bracket_downwards(probes, first)


def _first_taken(probes: Probes, start: int) -> Probe:
    """Return the first drive, from `start` on, that is large enough for the manager."""
    refused: RefusedError | None = None
    for blocks in _growing(probes, start):
        try:
            return probes.at(blocks)
        except RefusedError as error:
            refused = refused or error
    assert refused is not None, "no size was accepted, so at least one was refused"
    raise refused


def _bracket_upwards(probes: Probes, above: Probe) -> Crossing:
    for blocks in _growing(probes, above.blocks):
        probe = probes.at(blocks)  # the first drive is `above`, whose result is stored
        if probe.level <= probes.target_wa:
            return Crossing(above, probe)
        above = probe
    if above.is_above(probes.target_wa):
        raise _unreachable(probes)
    return Crossing(above, None)


def _growing(probes: Probes, blocks: int) -> Iterator[int]:
    """Yield `blocks` per plane, and larger numbers up to the largest drive."""
    sizes = probes.sizes
    yield min(blocks, sizes.most)
    while blocks < sizes.most:
        blocks = min(sizes.with_spare(blocks, _GROWTH), sizes.most)
        yield blocks


def _bracket_downwards(probes: Probes, below: Probe) -> Crossing:
    sizes, refused = probes.sizes, probes.sizes.fewest - 1
    while below.blocks - refused > 1:
        # Halve the spare space until the manager refuses a drive. After that, halve the distance to
        # the refused drive.
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
    """Return two neighbouring drives within a bracket of the target."""
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
    """Return whether WA meets the target within random noise; False for traces and coarse runs."""
    if not probes.sizes.has_draws or probe.is_coarse:
        return False
    nearer_end = min(probe.wa - probe.low, probe.high - probe.wa)
    return abs(probe.level - probes.target_wa) <= _MET_SHARE * nearer_end


def _between(probes: Probes, above: Probe, below: Probe, *, halved: bool) -> int:
    """Return a size within a bracket: interpolated with WA linear in 1/op, or the middle."""
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
    reach = "the most that the search tries" if too_low else "the fewest that the manager supports"
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
