"""Candidates of a learnt profile: possible drives, each with its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from writeamp.devices.geometry import COUNT
from writeamp.errors import WriteampError, placed
from writeamp.fields.domains import SHARE, Domain, Number, Text, shown
from writeamp.registry.specs import Spec
from writeamp.units.ratios import physical_of

# Simulations use the fewest candidates whose probabilities sum to at least this.
_CARRIED = 0.95


@dataclass(frozen=True)
class Candidate:
    """A possible drive of a profile: its policies, op and erase unit, and its probability."""

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
    """All possible drives of a profile, most probable first.

    `error` is the relative error that predicted WA has in addition to the differences between the
    candidates: 0.1 is 10%. `sequential_factor` is the measured WA of a sequential fill, which the
    candidates' WA lacks. `unit_for_zones` states the erase unit that zones need, if those of
    the candidates are not that of the drive.
    """

    logical_pages: int
    error: float
    members: tuple[Candidate, ...]
    sequential_factor: float = 1.0
    unit_for_zones: str = ""

    @property
    def carrying(self) -> tuple[Candidate, ...]:
        """The most probable candidates, as few as have a total probability of at least 95%."""
        members, weight = [], 0.0
        for member in self.members:
            members.append(member)
            weight += member.weight
            if weight >= _CARRIED:
                break
        return tuple(members)

    def note_of_best(self, name: object) -> str:
        """Return a sentence on the candidate that is used if only one drive is simulated."""
        best = self.members[0]
        return (
            f"{name} has {len(self.members)} possible drives (candidates); this run uses the most "
            "probable one "
            f"({best.weight:.0%}): {best.manager}, {best.victims}, op {best.op:.4g}, "
            f"{best.erase_unit_pages} pages per erase unit"
        )

    def blocks_of(self, member: Candidate) -> int:
        """Return the number of blocks of a candidate that has the size of the measured drive."""
        return max(2, round(physical_of(self.logical_pages, member.op) / member.erase_unit_pages))

    def with_more_op(self, more: float) -> Candidates:
        """Return the candidates with `more` added to their op."""
        members = tuple(replace(member, op=member.op + more) for member in self.members)
        return replace(self, members=members)

    def replaced(self, **values: Any) -> Candidates:
        """Return the candidates with some fields replaced; equal candidates are merged."""
        if not values:
            return self
        weights: dict[Candidate, float] = {}
        for member in self.members:
            same = replace(member, **values, weight=0.0)
            weights[same] = weights.get(same, 0.0) + member.weight
        members = [replace(member, weight=weight) for member, weight in weights.items()]
        return replace(self, members=tuple(sorted(members, key=lambda member: -member.weight)))

    @staticmethod
    def from_table(name: str, table: Mapping[str, Any]) -> Candidates:
        """Return the candidates in the table [twin] of a profile.

        Raises:
            WriteampError: a missing key or an invalid value.
        """
        where = f"{name}: [twin]"
        rows = table.get("candidates")
        if not isinstance(rows, list) or not rows:
            raise WriteampError(
                f"{where}: candidates is {shown(rows)}; it must be a list of drives, as written by "
                "`writeamp twin fit --out`"
            )
        members = tuple(Candidate(**_checked(where, _OF_CANDIDATE, row)) for row in rows)
        for member in members:
            _check_policy(where, member)
        own = {key: table[key] for key in _OF_TWIN if key in table}
        own.setdefault("sequential_factor", 1.0)
        checked = _checked(where, _OF_TWIN, own)
        return Candidates(**checked, members=members, unit_for_zones=_unit_for_zones(where, table))


def _unit_for_zones(where: str, table: Mapping[str, Any]) -> str:
    """Return the erase unit that a twin of phases needs for zones, in words; else nothing."""
    if "learnt_from" not in table:
        return ""
    unit = table.get("erase_unit_pages")
    if unit is None:
        return "its phases did not show the drive's erase unit; give --pages-per-block"
    pages = round(_ABOVE_ZERO.check(f"{where}: erase_unit_pages", unit))
    return f"give --pages-per-block {pages}, the erase unit that its phases showed"


def _check_policy(where: str, candidate: Candidate) -> None:
    try:
        Spec.of("managers", candidate.manager)
        if candidate.victims:  # empty if the manager's default victim policy is used
            Spec.of("victims", candidate.victims)
    except WriteampError as error:
        raise placed(where, error) from None


def _checked(where: str, domains: Mapping[str, Domain], row: Any) -> dict[str, Any]:
    """Return the checked values of a table that must have exactly the keys of `domains`."""
    if not isinstance(row, Mapping) or row.keys() != domains.keys():
        raise WriteampError(f"{where} has {shown(row)}; it must have the keys {', '.join(domains)}")
    return {key: domain.check(f"{where}: {key}", row[key]) for key, domain in domains.items()}


_ABOVE_ZERO = Number("be above 0", lambda value: value > 0)
_OF_CANDIDATE: dict[str, Domain] = {
    "manager": Text(),
    "victims": Text(),
    "op": Number("be above 0 and at most 1000", lambda value: 0 < value <= 1000),
    "erase_unit_pages": COUNT,
    "weight": SHARE,
}
_OF_TWIN: dict[str, Domain] = {
    "logical_pages": COUNT,
    "error": Number("be from 0 to 10", lambda value: 0 <= value <= 10),
    "sequential_factor": _ABOVE_ZERO,
}
