"""Search for the op at which a drive has a write amplification.

Bisection on common random numbers: all drives show their host the same, and serve the same host
with the same draws, so that they differ in whole blocks of spare space only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from writeamp.errors import RefusedError, WriteampError
from writeamp.studies.op.expected_op import expected_blocks
from writeamp.studies.op.probes import Probe, Probes

# The spare space of a drive too small, times this, is that of the next to try.
_GROWTH = 2
# Every so many steps the bracket is halved, whatever the line through its ends says.
_HALVING = 3
# A WA this near to the target, as a share of what its interval leaves, is not told from it.
_MET_SHARE = 0.25


@dataclass(frozen=True)
class Crossing:
    """Two drives between whose WA the target lies, the first smaller, with a larger WA.

    `above` is None if no smaller drive can be built, `below` if no larger one was to be tried; the
    target is then in the interval of the other's WA. Of a drive whose WA cannot be told from the
    target, it is both.
    """

    above: Probe | None
    below: Probe | None

    def nearest(self, target_wa: float) -> Probe:
        """Return the drive whose WA is nearest to the target."""
        return min(self._both(), key=lambda one: abs(one.level - target_wa))

    def other(self, one: Probe) -> Probe | None:
        """Return the drive beside one of them, if there is another."""
        return next((each for each in self._both() if each.blocks != one.blocks), None)

    def _both(self) -> list[Probe]:
        return [one for one in (self.above, self.below) if one is not None]


def find_crossing(probes: Probes) -> Crossing:
    """Return two neighbouring drives between whose WA the target lies, both tried precisely.

    Raises:
        WriteampError: no drive has that WA, or the manager takes none.
    """
    sizes = probes.sizes
    start = expected_blocks(sizes, probes.target_wa, sizes.expected_held_pages)
    found = _narrowed(probes, _bracket(probes, start))
    return Crossing(
        found.above and probes.precisely(found.above.blocks),
        found.below and probes.precisely(found.below.blocks),
    )


def _bracket(probes: Probes, start: int) -> Crossing:
    """Return two drives on both sides of the target, from `start` on."""
    first = _first_taken(probes, start)
    if first.level > probes.target_wa:
        return _bracket_upwards(probes, first)
    return _bracket_downwards(probes, first)


def _first_taken(probes: Probes, start: int) -> Probe:
    """Return the first drive, from `start` on, that the manager takes."""
    refused: RefusedError | None = None
    for blocks in _growing(probes, start):
        try:
            return probes.at(blocks)
        except RefusedError as error:
            refused = refused or error
    assert refused is not None, "there is a size to begin with"
    raise refused


def _bracket_upwards(probes: Probes, above: Probe) -> Crossing:
    for blocks in _growing(probes, above.blocks):
        found = probes.at(blocks)  # the first is `above` itself
        if found.level <= probes.target_wa:
            return Crossing(above, found)
        above = found
    if above.is_above(probes.target_wa):
        raise _unreachable(probes)
    return Crossing(above, None)


def _growing(probes: Probes, blocks: int) -> Iterator[int]:
    """Give `blocks`, and ever larger sizes up to the largest."""
    sizes = probes.sizes
    yield min(blocks, sizes.most)
    while blocks < sizes.most:
        blocks = min(sizes.with_spare(blocks, _GROWTH), sizes.most)
        yield blocks


def _bracket_downwards(probes: Probes, below: Probe) -> Crossing:
    sizes, refused = probes.sizes, probes.sizes.fewest - 1
    while below.blocks - refused > 1:
        # Halved until a drive is refused; from there on, what lies between is.
        blocks = sizes.with_spare(below.blocks, 1 / _GROWTH)
        if blocks <= refused or refused >= sizes.fewest:
            blocks = (refused + below.blocks) // 2
        try:
            found = probes.at(blocks)
        except RefusedError:
            refused = blocks
            continue
        if found.level > probes.target_wa:
            return Crossing(found, below)
        below = found
    if below.is_below(probes.target_wa):
        raise _unreachable(probes)
    return Crossing(None, below)


def _narrowed(probes: Probes, found: Crossing) -> Crossing:
    """Return two neighbours within a bracket."""
    above, below, step = found.above, found.below, 0
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
    """Return whether draws of another seed would move WA further than it is from the target."""
    if not probes.sizes.has_draws or probe.is_coarse:
        return False
    nearer_end = min(probe.wa - probe.low, probe.high - probe.wa)
    return abs(probe.level - probes.target_wa) <= _MET_SHARE * nearer_end


def _between(probes: Probes, above: Probe, below: Probe, *, halved: bool) -> int:
    """Return a size within a bracket: where WA meets the target if it is a line over 1/op."""
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
    reach = "the most that are tried" if too_low else "the fewest that the manager takes"
    blocks = sizes.drive((most if too_low else least).blocks).geometry.blocks
    found = " and ".join(
        f"{one.wa:.4f} at op {sizes.op(one.blocks):.4g}"
        for one in ([least] if least is most else [least, most])
    )
    return WriteampError(
        f"no op gives {sizes.target_plan.load_name} a WA of {probes.target_wa:.6g} under "
        f"{sizes.target_plan.policy}: it is {found}, and {blocks:,} blocks for "
        f"{sizes.logical_pages:,} logical pages are {reach}"
    )
