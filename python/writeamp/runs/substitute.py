"""Relation between a requested experiment and the experiments that are run in place of it.

For example, a smaller drive is run in place of a large one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class Substitute:
    """Relation of the experiments that were run to the requested experiment (`studies/over.py`).

    This class is for an experiment that is run as requested, so its methods change nothing and add
    nothing. Subclasses override them.
    """

    level: ClassVar[float | None] = None
    """Probability of the interval if this class computes it, or None for the run's own interval."""

    @property
    def error_of_wa(self) -> float:
        """Bound on the difference between the requested WA and the run's WA; NaN if unknown."""
        return 0.0

    def wa_of(self, own: float) -> float:
        """Return the WA of the requested experiment; `own` is the WA of the run."""
        return own

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of the requested experiment's WA; `interval` is that of the run."""
        return interval

    def judged(self, steady: bool, reason: str) -> tuple[bool, str]:
        """Return whether the requested WA is steady, and why; the arguments are the run's."""
        return steady, reason

    def facts_of_wa(self) -> dict[str, Any]:
        """Return the facts on the relation that apply to one WA, as JSON types."""
        return {}

    def facts_of_drive(self) -> dict[str, Any]:
        """Return the facts on the relation that all runs on a drive share, as JSON types."""
        return {}

    def warnings_of_wa(self, wa: float) -> list[str]:
        """Return warnings that apply to one WA."""
        return []

    def warnings_of_drive(self) -> list[str]:
        """Return warnings that apply to all runs on a drive."""
        return []

    def facts(self) -> dict[str, Any]:
        """Return all facts on the relation, as JSON types."""
        return self.facts_of_drive() | self.facts_of_wa()

    def warnings(self, wa: float) -> list[str]:
        """Return all warnings on the relation; `wa` is the WA of the requested experiment."""
        return [*self.warnings_of_wa(wa), *self.warnings_of_drive()]

    def rows(self) -> list[tuple[str, str]]:
        """Return table rows (name and text) on the relation, for the card of a result."""
        return []

    def drives_suffix(self) -> str:
        """Return the end of a phrase on the simulated drives; it names the requested drives."""
        return ""

    def legend(self, of_rows: Mapping[str, Substitute]) -> str:
        """Return a line below a table of WA; `of_rows` maps each row's name to its relation."""
        return ""


# Relation of a result whose run was the requested experiment, with nothing run in its place.
NO_SUBSTITUTE = Substitute()
