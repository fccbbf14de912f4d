"""Joint readings (interpretations) of paper 3: a default, and seven that change it."""

from __future__ import annotations

from collections.abc import Callable

from writeamp_papers.readings import Reading

WEIGHT = 'weight a of the last interval in a measured hit rate ("h·3", with h in writes)'
CLASS = "class that FDP gives to a page that collection moves"
COLD_SPACE = "spare space of the coldest group (Fig. 2, and the closed form under TPC-C)"
RULE = "rule that gives the coldest group little spare space, under TPC-C"
FILL = "fill (logical ÷ physical pages) under TPC-C"
DEMOTION = "share of the pages classified as cold that move to a colder group"

SLOW, FAST = "0.003, as printed if h is in drive writes", "0.015"
WEIGHTS = {SLOW: 0.003, FAST: 0.015}
LAST_WRITE, CURRENT = "class of its last write", "class of its current update frequency"
AS_IN_TEXT, LEAST = "5% of its size", "0.2% of its size"
SMALLEST = "5% of the size of the smallest group"
PRINTED_RULE, NO_RULE, ALWAYS = "as printed", "none", "always acting"
OF_THE_PAGES, OF_TABLE_2 = "0.7656, from the pages of section 6.2", "0.7, from Table 2"
# 802,816 pages on Table 2's drive, and Table 2's own value.
FILLS = {OF_THE_PAGES: 0.765625, OF_TABLE_2: 0.7}
SOME, EVERY = "one in eight", "every one"

_OURS = Reading(
    "3-A as printed",
    {
        WEIGHT: SLOW,
        CLASS: LAST_WRITE,
        COLD_SPACE: AS_IN_TEXT,
        RULE: PRINTED_RULE,
        FILL: OF_THE_PAGES,
        DEMOTION: SOME,
    },
)


READINGS = (
    _OURS,
    _OURS.but("3-B short memory", {WEIGHT: FAST}),
    _OURS.but("3-C current class", {CLASS: CURRENT}),
    _OURS.but("3-D short memory, least space", {WEIGHT: FAST, COLD_SPACE: LEAST}),
    _OURS.but("3-E rule always acting", {RULE: ALWAYS}),
    _OURS.but("3-F fill of Table 2", {FILL: OF_TABLE_2}),
    _OURS.but("3-G every cold page demoted", {DEMOTION: EVERY}),
    _OURS.but("3-H space of the smallest group", {COLD_SPACE: SMALLEST}),
)


def by_reading(value: Callable[[Reading], float]) -> dict[str, float]:
    """Return a value computed under each reading, by the name of the reading."""
    return {reading.name: value(reading) for reading in READINGS}
