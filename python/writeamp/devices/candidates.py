"""Candidates of a profile: the drives that it may be, each with its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from writeamp.devices.geometry import COUNT
from writeamp.errors import WriteampError, placed
from writeamp.fields.domains import SHARE, Domain, Number, Text, shown
from writeamp.registry.specs import Spec
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
        where = f"{name}: [twin]"
        rows = table.get("candidates")
        if not isinstance(rows, list) or not rows:
            raise WriteampError(
                f"{where}: candidates is {shown(rows)}; it must be the drives that "
                "`writeamp twin fit --out` found"
            )
        members = tuple(Candidate(**_checked(where, _OF_CANDIDATE, row)) for row in rows)
        for one in members:
            _check_policy(where, one)
        own = {key: table[key] for key in _OF_TWIN if key in table}
        return Candidates(**_checked(where, _OF_TWIN, own), members=members)


def _check_policy(where: str, one: Candidate) -> None:
    try:
        Spec.of("managers", one.manager)
        if one.victims:  # else they are the manager's own
            Spec.of("victims", one.victims)
    except WriteampError as error:
        raise placed(where, error) from None


def _checked(where: str, domains: Mapping[str, Domain], row: Any) -> dict[str, Any]:
    """Return the values of a table that has just these keys."""
    if not isinstance(row, Mapping) or row.keys() != domains.keys():
        raise WriteampError(f"{where} has {shown(row)}; it must have {', '.join(domains)}")
    return {key: domain.check(f"{where}: {key}", row[key]) for key, domain in domains.items()}


_ABOVE_ZERO = Number("be above 0", lambda value: value > 0)
_OF_CANDIDATE: dict[str, Domain] = {
    "manager": Text(),
    "victims": Text(),
    "op": _ABOVE_ZERO,
    "erase_unit_pages": COUNT,
    "weight": SHARE,
}
_OF_TWIN: dict[str, Domain] = {
    "logical_pages": COUNT,
    "error": Number("be from 0 to 10", lambda value: 0 <= value <= 10),
}
