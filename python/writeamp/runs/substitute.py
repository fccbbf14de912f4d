"""Results of experiments that were run in the place of the requested one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class Substitute:
    """Relation of the experiments that were run to the one requested (`studies/over.py`).

    Each method changes nothing, or adds nothing, unless a class says otherwise.
    """

    level: ClassVar[float | None] = None
    """Probability of the interval, if WA and its interval come from this; None of those of runs."""

    @property
    def error_of_wa(self) -> float:
        """Largest difference of the requested WA from that of the run; NaN if unknown."""
        return 0.0

    def wa_of(self, own: float) -> float:
        """Return WA of the requested experiment; `own` is that of the run."""
        return own

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of that WA; `interval` is that of the run."""
        return interval

    def judged(self, steady: bool, reason: str) -> tuple[bool, str]:
        """Return whether that WA lasts, and why; the arguments say so of the run."""
        return steady, reason

    def facts_of_wa(self) -> dict[str, Any]:
        """Return what belongs to one WA, as JSON types."""
        return {}

    def facts_of_drive(self) -> dict[str, Any]:
        """Return what holds of all runs of a drive, as JSON types."""
        return {}

    def warnings_of_wa(self, wa: float) -> list[str]:
        """Return the warnings on one WA."""
        return []

    def warnings_of_drive(self) -> list[str]:
        """Return the warnings that hold of all runs of a drive."""
        return []

    def facts(self) -> dict[str, Any]:
        """Return all facts as JSON types."""
        return self.facts_of_drive() | self.facts_of_wa()

    def warnings(self, wa: float) -> list[str]:
        """Return all warnings."""
        return [*self.warnings_of_wa(wa), *self.warnings_of_drive()]

    def rows(self) -> list[tuple[str, str]]:
        """Return the rows of a card."""
        return []

    def stands_for(self) -> str:
        """Return what the runs stand for, as the end of a sentence on their drives."""
        return ""

    def legend(self, of_rows: Mapping[str, Substitute]) -> str:
        """Return a line below a table of WA; `of_rows` has the substitute of each row by name."""
        return ""


# Of a run that is the requested experiment itself.
NO_SUBSTITUTE = Substitute()
