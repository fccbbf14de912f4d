"""Verdicts of checks: ok, doubt, fail or unknown, with the numbers that say so."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

# Name of the check of a text that ends within a line.
CUT_END = "end of the text"

Verdict: TypeAlias = Literal["ok", "doubt", "fail", "unknown"]


class Check(NamedTuple):
    """A check by its name, what came of it, and the numbers that say so."""

    name: str
    verdict: Verdict
    evidence: str

    def to_dict(self) -> dict[str, str]:
        """Return the check as JSON types."""
        return self._asdict()
