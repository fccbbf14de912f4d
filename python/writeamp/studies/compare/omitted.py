"""Rows of a comparison that cannot run on the drive, with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from writeamp.errors import RefusedError
from writeamp.fields.old_names import with_old_names
from writeamp.runs.plan import Plan
from writeamp.studies.compare.row import row_name


@dataclass(frozen=True)
class OmittedRow:
    """Row of a comparison whose policy cannot run on the drive.

    Attributes:
        plan: plan of its first run, without the requests of a trace.
        place: index of the row in the requested order.
        reason: sentence on why it cannot run; it ends with an op that works, if there is one.
        working_op: smallest op in whole per cents at which it can run, or None.
        with_victims, with_load: as in `Row`.
    """

    plan: Plan
    place: int
    reason: str
    working_op: float | None = None
    with_victims: bool = False
    with_load: bool = False

    @property
    def workload(self) -> str:
        """Load: a workload, or the name of a trace."""
        return self.plan.load_name

    @property
    def manager(self) -> str:
        """Block manager, as requested."""
        return self.plan.policy.manager

    @property
    def victims(self) -> str:
        """Victim policy: the requested one, or the manager's own."""
        return self.plan.policy.victims

    @property
    def policy(self) -> str:
        """Name of the manager, with its victim policy if other rows have a different one."""
        return row_name(self.manager, self.victims if self.with_victims else None)

    @property
    def name(self) -> str:
        """Unique name of the row."""
        return row_name(self.policy, None, self.workload if self.with_load else None)

    def to_dict(self, like: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row as JSON types, with the keys of a finished row and null for its results.

        Args:
            like: a finished row.
        """
        return with_old_names(
            {key: _nothing_like(value) for key, value in like.items() if key != "handles"}
            | {
                "workload": self.workload,
                "manager": self.manager,
                "victims": self.victims,
                "reason": self.reason,
                "working_op": self.working_op,
            }
        )


class NoRowFitsError(RefusedError):
    """Error for a comparison of which no row can run on its drive; it names the first row.

    Attributes:
        omitted: all rows, at least one.
    """

    def __init__(self, omitted: tuple[OmittedRow, ...]) -> None:
        """Store the rows."""
        super().__init__(f"{omitted[0].name}: {omitted[0].reason}")
        self.omitted = omitted

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild the error from its rows, since exceptions are pickled with their sentence."""
        return type(self), (self.omitted,)


def _nothing_like(value: Any) -> Any:
    """Return null, or an object or interval of nulls."""
    if isinstance(value, Mapping):
        return dict.fromkeys(value)
    return [None, None] if isinstance(value, list) and len(value) == 2 else None
