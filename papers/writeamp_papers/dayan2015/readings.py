"""Joint readings (interpretations) of paper 3: a default, and nine with one change each."""

from __future__ import annotations

from collections.abc import Callable

from writeamp_papers.readings import Reading

WEIGHT = 'weight a of the last interval in a measured hit rate ("h·3", with h in writes)'
CLASS = "class that FDP gives to a page that collection moves"
COLD_SPACE = "spare space of the coldest group, in % of its size (Fig. 2, and TPC-C in theory)"
RULE = "rule that gives the coldest group little spare space, under TPC-C"
FILL = "fill (logical ÷ physical pages) under TPC-C"
DEMOTION = "share of the pages classified as cold that move to a colder group"
FDP_GROUPS = "number of FDP's groups under TPC-C"

FAST, SLOW = "0.015", "0.003"
LAST_WRITE, CURRENT = "class of its last write", "class of its current update frequency"
AS_IN_TEXT, LEAST = "5%", "0.2%"
PRINTED_RULE, NO_RULE, ALWAYS = "as printed", "none", "always acting"
OF_THE_PAGES, OF_TABLE_2 = "0.7656, from the pages of section 6.2", "0.7, from Table 2"
SOME, EVERY = "one in eight", "every one"

_OURS = Reading(
    "3-A as printed",
    {
        WEIGHT: FAST,
        CLASS: LAST_WRITE,
        COLD_SPACE: AS_IN_TEXT,
        RULE: PRINTED_RULE,
        FILL: OF_THE_PAGES,
        DEMOTION: SOME,
        FDP_GROUPS: "8",
    },
)


READINGS = (
    _OURS,
    _OURS.but("3-B long memory", {WEIGHT: SLOW}),
    _OURS.but("3-C current class", {CLASS: CURRENT}),
    _OURS.but("3-D least space for the coldest", {COLD_SPACE: LEAST}),
    _OURS.but("3-E rule always acting", {RULE: ALWAYS}),
    _OURS.but("3-F fill of Table 2", {FILL: OF_TABLE_2}),
    _OURS.but("3-G every cold page demoted", {DEMOTION: EVERY}),
    _OURS.but("3-H five groups of FDP", {FDP_GROUPS: "5"}),
    _OURS.but("3-I three groups of FDP", {FDP_GROUPS: "3"}),
    _OURS.but("3-J two groups of FDP", {FDP_GROUPS: "2"}),
)


def by_reading(value: Callable[[Reading], float]) -> dict[str, float]:
    """Return a value computed under each reading, by the name of the reading."""
    return {reading.name: value(reading) for reading in READINGS}
