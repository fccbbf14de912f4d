"""Joint readings (interpretations) of paper 1: a default, and five with one change each."""

from __future__ import annotations

from collections.abc import Mapping

from writeamp_papers.readings import Reading
from writeamp_papers.readings import by_choice as by_choice_of

PASSES_COUNTED = "passes over the hot file whose mean WA the paper reports"
WINDOW = "window, reserve and size of the drive in the Coupon Collector model (Table 4)"
MIXTURE = "how sequential and random writes share the hot file (Fig. 4)"

ALL, SETTLED = "all fifteen passes", "the passes after the fifth"
# Hu et al.'s windows start at one block, which is FIFO collection.
WINDOWS = {"64 blocks": 64, "8 blocks": 8, "one block": 1}
# FIFO collection on a small drive with reserved blocks: the only choice for which the model's ratio
# to Expected Value exceeds 1.
SMALL_DRIVE = "window of one block, on a drive of 1000 logical blocks with a reserve of 5 blocks"
IN_TURN = "sequential and random writes alternate page by page in the whole hot file"
HALVES = "sequential writes in one half of the hot file, random writes in the other"

_OURS = Reading("1-A as printed", {PASSES_COUNTED: ALL, WINDOW: "64 blocks", MIXTURE: IN_TURN})


READINGS = (
    _OURS,
    _OURS.but("1-B settled passes", {PASSES_COUNTED: SETTLED}),
    _OURS.but("1-C window of 8", {WINDOW: "8 blocks"}),
    _OURS.but("1-D window of 1", {WINDOW: "one block"}),
    _OURS.but("1-E small drive", {WINDOW: SMALL_DRIVE}),
    _OURS.but("1-F halves", {MIXTURE: HALVES}),
)


def by_choice(detail: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return a value by reading, from the values by the choice of one detail."""
    return by_choice_of(READINGS, detail, values)
