"""Parameters of the papers' experiments, typed again from their texts.

Most of them can change without a change of any verdict.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter

import writeamp as wa

KIB, GIB = 2**10, 2**30

GIVEN = {
    # Paper 1, sections 4.4 and 4.5, Table 3.
    "park2017.hot_file PASSES": 15,
    "park2017.drive _COLD_GB": 102.1,
    "park2017.drive _HOT_GB": 112.9,
    "park2017.drive HOT_RATIOS": (0.1, 0.2, 0.3, 0.4),
    "park2017.drive UTILIZATIONS": (0.6, 0.7, 0.8, 0.9),
    # Paper 2, section IV.D.
    "huang2011.traces _TRAINING_SHARE": 2 / 3,
    # Paper 3, sections 5.5.3 and 6, Table 2.
    "dayan2015.allocation FILLS": (0.6, 0.7, 0.8, 0.9),
    "dayan2015.allocation CHUNKS": (10, 20),
    "dayan2015.drives FILL": 0.7,
    "dayan2015.drives FULL.blocks": 4 * 2 * 1024,
    "dayan2015.updates PAGES": 802_816,
    "dayan2015.swap_runs FIVE_GROUPS": (1, 2, 4, 8, 16),
    # Paper 4, sections 3.3 and 4, captions of the figures.
    "verschoren2019.paper _D_SWAP": 100,
    "verschoren2019.paper _LOGICAL_BLOCKS": 10_000,
    "verschoren2019.figures _PAGES_PER_BLOCK": 32,
    "verschoren2019.figures _SPARE_FACTOR": 0.08,
    "verschoren2019.wear FULL.w_max": 5000,
    "verschoren2019.wear FULL.replicas": 50,
    # Paper 5, sections IV.C and V, Tables I to III.
    "four_level.verification _VOLUME_BYTES": 2 * GIB,
    "four_level.partitions SUB_TESTS": 15,
    "four_level.partitions SUB_TEST_BYTES": 5 * GIB,
    "four_level.oltp _SUB_TESTS": 13,
    "four_level.oltp F1.most_bytes": (16 * KIB, 8499),
    "four_level.oltp F2.most_bytes": (256 * KIB, 64 * KIB),
    "four_level.drives QUIET_NS": 5 * 60 * 10**9,
    "four_level.loads SIZES": (512, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB),
    "four_level.formulas SSD_I_OP_SPACE_GB": 2.8,
    "four_level.formulas PARTITIONS_GB": {15: 15.9, 12: 20.5, 10: 25.2, 8: 32.2, 7: 37.2},
    "four_level.formulas TESTED_US": {
        "ssd-s": (200, 500),
        **dict.fromkeys(("ssd-m", "ssd-i", "ssd-v"), (200, 2200)),
    },
}


# Looked up when tests are collected, as imports take longer than a unit test may.
FOUND = {
    place: attrgetter(name)(import_module(f"writeamp_papers.{module}"))
    for place, (module, name) in ((place, place.split()) for place in GIVEN)
}


def test_the_experiments_are_those_of_the_papers() -> None:
    assert FOUND == GIVEN


def test_the_drive_of_paper_3_is_that_of_its_table_2() -> None:
    drive = wa.device("eagletree")
    assert (drive.channels, drive.chips_per_channel * drive.dies_per_chip) == (4, 2)
    assert (drive.pages_per_block, drive.page_bytes) == (128, 16 * KIB)
