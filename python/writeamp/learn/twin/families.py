"""Candidates for twins: pairs of placement and victim policy in the engine's registry.

A family is a pair of policies without parameters; a variant also has their parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

from writeamp._engine import candidates, declared
from writeamp.registry.declarations import needed_hints

# Placeholder in the spec of a victim policy for a share of the drive's blocks.
_BLOCKS = re.compile(r"\{([\d.]+) blocks\}")
# Victim policies that ignore the content of blocks. They erase all blocks equally often, so the
# placement hardly changes WA.
_BLIND = ("fifo", "random")


@dataclass(frozen=True)
class Variant:
    """A placement and a victim policy, with one set of parameter values."""

    manager: str
    victims: str

    @property
    def family(self) -> tuple[str, str]:
        """Names of the manager and the victim policy, without parameters."""
        return _name(self.manager), _name(self.victims)

    @property
    def separates(self) -> bool:
        """True if moved or hot pages are in blocks separate from other host writes."""
        return _name(self.manager) != "single"

    @property
    def separates_for_nothing(self) -> bool:
        """True if it separates pages, although its victim policy gains nothing from this."""
        return self.separates and _name(self.victims) in _BLIND

    @property
    def is_usual(self) -> bool:
        """True if its family is a candidate for a twin from a single WA value."""
        return self.family in _usual_families()

    @cached_property
    def requires_hints(self) -> bool:
        """True if it needs host hints about pages, which a chain cannot send to a real drive."""
        return needed_hints(self.manager) is not None

    @cached_property
    def tied_blocks(self) -> float:
        """Average number of blocks without data: the reserve, and half of the open blocks."""
        needs = declared(self.manager)["needs"]
        return float(needs["reserve_blocks"]) + float(needs["fewest_streams"]) / 2

    def victims_on(self, blocks: float) -> str:
        """Return the victim policy on a drive with this number of blocks."""
        return _BLOCKS.sub(lambda share: str(max(1, round(float(share[1]) * blocks))), self.victims)


def _name(spec: str) -> str:
    return spec.partition(":")[0]


@cache
def _usual_families() -> frozenset[tuple[str, str]]:
    usual = (pairs[:2] for pairs in candidates() if pairs[2])
    return frozenset(Variant(*pair).family for specs in usual for pair in product(*specs))


def _families() -> tuple[tuple[Variant, ...], ...]:
    families: dict[tuple[str, str], list[Variant]] = {}
    for managers, victims, _ in candidates():
        for variant in (Variant(*pair) for pair in product(managers, victims)):
            families.setdefault(variant.family, []).append(variant)
    return tuple(map(tuple, families.values()))


FAMILIES = _families()
# Families that are candidates for a twin from a single WA value.
USUAL = tuple(family for family in FAMILIES if family[0].is_usual)
