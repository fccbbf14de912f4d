"""Families of candidates: how drives place pages and choose victims, a line each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from writeamp._engine import declared
from writeamp.registry.declarations import needed_hints

# Where the text of a victim policy has this, it stands for a share of the drive's blocks.
_BLOCKS = "{blocks}"
# Victim policies that do not look at what a block holds. Each block is erased as often under them,
# so that WA is all but the same wherever pages lie.
_BLIND = ("fifo", "random")


@dataclass(frozen=True)
class Variant:
    """A family with one value of its parameters."""

    manager: str
    victims: str
    blocks_share: float = 0.0

    @property
    def family(self) -> tuple[str, str]:
        """Names of the manager and the victim policy, without parameters."""
        return _name(self.manager), _name(self.victims)

    @property
    def separates(self) -> bool:
        """True if what is moved or hot lies apart from what the host writes."""
        return _name(self.manager) != "single"

    @property
    def separates_for_nothing(self) -> bool:
        """True if pages lie apart under a victim policy that makes no use of it."""
        return self.separates and _name(self.victims) in _BLIND

    @property
    def is_usual(self) -> bool:
        """True if its family is one that a single number is weighed among."""
        return self.family in _usual_families()

    @cached_property
    def hears_hints(self) -> bool:
        """True if the host must say of pages what they are, which no chain says to a real drive."""
        return needed_hints(self.manager) is not None

    @cached_property
    def tied_blocks(self) -> float:
        """Blocks that hold no data on average: those kept in reserve, and half of the open ones."""
        needs = declared(self.manager)["needs"]
        return float(needs["reserve_blocks"]) + float(needs["fewest_streams"]) / 2

    def victims_on(self, blocks: float) -> str:
        """Return the victim policy on a drive of so many blocks."""
        return self.victims.replace(_BLOCKS, str(max(1, round(self.blocks_share * blocks))))


# Those that one number is weighed among, and those besides that only a chain tells apart.
USUAL: tuple[tuple[Variant, ...], ...] = (
    (Variant("single", "greedy"),),
    tuple(Variant("single", f"d-choices:d={d}") for d in (2, 3, 4, 5, 7)),
    tuple(Variant("single", f"windowed-greedy:window={_BLOCKS}", w) for w in (0.03, 0.1, 0.3)),
    (Variant("single", "fifo"),),
    (Variant("single", "random"),),
    (Variant("single", "cost-benefit"),),
    (Variant("sepgc", "greedy"),),
    tuple(Variant("sepgc", f"d-choices:d={d}") for d in (2, 3, 4, 6)),
    tuple(Variant("sepgc", f"windowed-greedy:window={_BLOCKS}", w) for w in (0.05, 0.2)),
    (Variant("sepgc", "fifo"),),
    (Variant("sepgc", "random"),),
    (Variant("sepgc", "cost-benefit"),),
    tuple(Variant(f"dac:regions={n}", "greedy") for n in (3, 6)),
    tuple(Variant(f"dac:regions={n}", "cost-benefit") for n in (3, 4, 6)),
    (Variant("multilog:logs=4", "greedy"),),
    (Variant("multilog:logs=4", "cost-benefit"),),
    (Variant("sepbit", "greedy"),),
    (Variant("sepbit", "cost-benefit"),),
    (Variant("warcip", "greedy"),),
    (Variant("warcip", "cost-benefit"),),
)
_GROUPING = ("dac:regions=6", "multilog:logs=4", "sepbit", "warcip", "sfs", "midas", "eti", "fadac")
FAMILIES: tuple[tuple[Variant, ...], ...] = (
    *USUAL,
    *((Variant(name, "greedy"),) for name in _GROUPING[4:]),
    *((Variant(name, "cost-benefit"),) for name in _GROUPING[4:]),
    *((Variant(name, "d-choices:d=4"),) for name in _GROUPING),
    *((Variant(name, "cost-hotness"),) for name in ("single", "sepgc", "dac:regions=6", "sfs")),
    (Variant("wolf", "greedy"), Variant("wolf:detector=bloom", "greedy")),
    (Variant("wolf", "fifo"),),
    (Variant("wolf-interval", "greedy"),),
    (Variant("wolf-interval", "fifo"),),
    (Variant("fdp-frequency", "fifo"),),
    (Variant("hcwf", "d-choices:d=10"),),
    (Variant("hcwf-swap", "d-choices:d=10"),),
    (Variant("nvme-fdp", "greedy"),),
    (Variant("oracle", "cost-benefit"),),
)


def _name(spec: str) -> str:
    return spec.partition(":")[0]


@cache
def _usual_families() -> frozenset[tuple[str, str]]:
    return frozenset(variant.family for family in USUAL for variant in family)
