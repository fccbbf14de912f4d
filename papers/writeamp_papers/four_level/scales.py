"""Scales of the drives of Figures 7 to 11: the smallest drives within a stated error.

The error is that of the WA of random writes of whole units in steady state, by the Markov model of
greedy collection. A scaled drive has two: reserved blocks take more of its spare space, which
raises WA, and blocks have fewer pages, which lowers it.
"""

from __future__ import annotations

from functools import cache

from writeamp.devices.device import device
from writeamp.models import markov
from writeamp.units.ratios import logical_of
from writeamp_papers.bench import Bench
from writeamp_papers.four_level.choices import CHOICES, PAIR
from writeamp_papers.four_level.drives import Scale

SCALED_DRIVES = ("ssd-i", "ssd-m", "ssd-s")

# Largest error of the short and of the full form. The bounds were set after the errors and the cost
# of scales were known: half the error takes four times the processor time.
SHORT_ERROR, FULL_ERROR = 0.15, 0.07

_FACTORS = (256, 128, 64, 32, 16, 8, 4)
_PAGES_PER_BLOCK = (16, 32, 64, 128)
# Blocks of a die that host writes and copies are filling.
_OPEN_BLOCKS = 2


def scale_of(bench: Bench) -> Scale:
    """Return the scale of the drives of the short or the full form."""
    return scale_within(FULL_ERROR if bench.full else SHORT_ERROR)


@cache
def scale_within(error: float) -> Scale:
    """Return the scale of the smallest drives whose error is at most `error`.

    Raises:
        ValueError: no scale has so small an error.
    """
    for factor in _FACTORS:
        best = min((Scale(factor, pages) for pages in _PAGES_PER_BLOCK), key=error_of)
        if error_of(best) <= error:
            return best
    raise ValueError(f"no scale has an error of at most {error:g}")


def error_of(scale: Scale) -> float:
    """Return the largest relative error of random WA of the drives at a scale."""
    return max(
        abs(random_wa(name, scale) / random_wa(name, Scale(1, device(name).pages_per_block)) - 1)
        for name in SCALED_DRIVES
    )


@cache
def random_wa(profile: str, scale: Scale) -> float:
    """Return the WA of random writes of mapping units; infinite without spare blocks."""
    made = scale.drive(profile, CHOICES[PAIR].firmware).device
    reserved = _OPEN_BLOCKS + (made.times or {})["collection"]["hard_blocks"]
    blocks = made.physical_pages / made.dies / scale.pages_per_block
    op = (blocks - reserved) / logical_of(blocks, made.op) - 1
    return float(markov(op, scale.pages_per_block)) if op > 0 else float("inf")
