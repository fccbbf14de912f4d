"""Settings of the small drives that a page shows step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.domains import RATIO, Whole
from writeamp.fields.setting import Settings, setting
from writeamp.registry.specs import SpecLike, SpecOf

# Limits of a drive's shape and writes: larger drives do not fit on a screen, and the events of more
# writes do not fit in a page. By default, a placement of eight blocks such as sepbit fits.
_MOST_BLOCKS = 64
_MOST_PAGES_PER_BLOCK = 64
_MOST_WRITES = 10_000


@dataclass(frozen=True)
class ExploreSettings(Settings):
    """Small drives of one shape, and their workload."""

    title: ClassVar[str] = "small drive"

    workload: SpecLike = setting(
        "hot-cold:f=0.1,r=0.9",
        SpecOf("workloads"),
        "synthetic workload, the same for all drives",
        kind="workloads",
    )
    blocks: int = setting(
        64,
        Whole(8, _MOST_BLOCKS),
        "number of blocks of each drive, 8 to 64",
        number="count",
        panel="small drive",
    )
    pages_per_block: int = setting(
        8,
        Whole(4, _MOST_PAGES_PER_BLOCK),
        "number of pages of each block, 4 to 64",
        number="count",
        panel="small drive",
    )
    op: float = setting(
        0.2,
        RATIO,
        "over-provisioning ratio (T-U)/U of T physical and U logical pages, such as 0.15 or 15%",
        number="ratio",
        panel="small drive",
    )
    writes: int = setting(
        1500,
        Whole(1, _MOST_WRITES),
        "number of host page writes after the first fill, at most 10,000",
        number="count",
        panel="run",
    )
    seed: int = setting(1, Whole(0), "seed of every random draw", number="count", panel="run")
