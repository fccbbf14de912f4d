"""Candidates of a profile: the drives that it may be, each with its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from writeamp.errors import WriteampError
from writeamp.units.ratios import physical_of

# Of all candidates, the fewest that carry so much of the weight are simulated.
_CARRIED = 0.95


@dataclass(frozen=True)
class Candidate:
    """One drive that a profile may be: its policies, op and erase unit, and its probability."""

    manager: str
    victims: str
    op: float
    erase_unit_pages: int
    weight: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)


@dataclass(frozen=True)
class Candidates:
    """All drives that a profile may be, the most probable first.

    `error` is the relative error of a prediction of WA beside that of the candidates.
    """

    logical_pages: int
    error: float
    members: tuple[Candidate, ...]

    @property
    def carrying(self) -> tuple[Candidate, ...]:
        """The fewest members that carry 95% of the weight."""
        found, weight = [], 0.0
        for one in self.members:
            found.append(one)
            weight += one.weight
            if weight >= _CARRIED:
                break
        return tuple(found)

    def note_of_best(self, name: object) -> str:
        """Return a sentence on which member a run of one drive takes."""
        best = self.members[0]
        return (
            f"{name} may be any of {len(self.members)} drives; this is the most probable, with "
            f"{best.weight:.0%}: {best.manager}, {best.victims}, op {best.op:.4g}, "
            f"{best.erase_unit_pages} pages an erase unit"
        )

    def blocks_of(self, one: Candidate) -> int:
        """Return the blocks of a member on a drive of the size that was measured."""
        return max(2, round(physical_of(self.logical_pages, one.op) / one.erase_unit_pages))

    def with_more_op(self, more: float) -> Candidates:
        """Return all members with so much more op."""
        members = tuple(replace(one, op=one.op + more) for one in self.members)
        return replace(self, members=members)

    def replaced(self, **values: Any) -> Candidates:
        """Return all members with some fields replaced by values; those that become one are."""
        if not values:
            return self
        weights: dict[Candidate, float] = {}
        for one in self.members:
            same = replace(one, **values, weight=0.0)
            weights[same] = weights.get(same, 0.0) + one.weight
        members = [replace(one, weight=weight) for one, weight in weights.items()]
        return replace(self, members=tuple(sorted(members, key=lambda one: -one.weight)))

    @staticmethod
    def from_table(name: str, table: Mapping[str, Any]) -> Candidates:
        """Return what the table [twin] of a profile holds.

        Raises:
            WriteampError: a key is missing, or a value is none that it may have.
        """
        try:
            members = tuple(
                Candidate(
                    **{
                        one.name: {"str": str, "float": float, "int": int}[str(one.type)](
                            row[one.name]
                        )
                        for one in fields(Candidate)
                    }
                )
                for row in table["candidates"]
            )
            found = Candidates(int(table["logical_pages"]), float(table["error"]), members)
        except (KeyError, TypeError, ValueError) as error:
            raise WriteampError(
                f"{name}: [twin] is not what `writeamp twin fit --out` writes: {error}"
            ) from None
        is_sound = members and all(
            one.op > 0 and one.erase_unit_pages > 0 and one.weight > 0 for one in members
        )
        if not is_sound or found.logical_pages < 1 or not 0 <= found.error < 10:
            raise WriteampError(
                f"{name}: [twin] needs candidates whose op, erase_unit_pages and weight are above 0"
            )
        return found
