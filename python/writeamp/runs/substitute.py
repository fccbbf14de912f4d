"""Results of experiments that were run in place of the requested one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class Substitute:
    """Relation of the experiments that were run to the requested one (`studies/over.py`).

    By default, each method changes or adds nothing.
    """

    level: ClassVar[float | None] = None
    """Probability of the interval if this class computes it, or None for the run's own interval."""

    @property
    def error_of_wa(self) -> float:
        """Largest difference between the requested WA and that of the run; NaN if unknown."""
        return 0.0

    def wa_of(self, own: float) -> float:
        """Return the WA of the requested experiment; `own` is that of the run."""
        return own

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of the requested WA; `interval` is that of the run."""
        return interval

    def judged(self, steady: bool, reason: str) -> tuple[bool, str]:
        """Return the verdict on the requested WA, and why; the arguments are the run's verdict."""
        return steady, reason

    def facts_of_wa(self) -> dict[str, Any]:
        """Return the facts on one WA as JSON types."""
        return {}

    def facts_of_drive(self) -> dict[str, Any]:
        """Return the facts that all runs on a drive share, as JSON types."""
        return {}

    def warnings_of_wa(self, wa: float) -> list[str]:
        """Return warnings on one WA."""
        return []

    def warnings_of_drive(self) -> list[str]:
        """Return warnings that apply to all runs on a drive."""
        return []

    def facts(self) -> dict[str, Any]:
        """Return all facts as JSON types."""
        return self.facts_of_drive() | self.facts_of_wa()

    def warnings(self, wa: float) -> list[str]:
        """Return all warnings."""
        return [*self.warnings_of_wa(wa), *self.warnings_of_drive()]

    def rows(self) -> list[tuple[str, str]]:
        """Return rows for a card."""
        return []

    def drives_suffix(self) -> str:
        """Return the end of a phrase on the simulated drives that names the requested ones."""
        return ""

    def legend(self, of_rows: Mapping[str, Substitute]) -> str:
        """Return a line below a table of WA; `of_rows` maps each row's name to its substitute."""
        return ""


# For a run that is the requested experiment itself.
NO_SUBSTITUTE = Substitute()
