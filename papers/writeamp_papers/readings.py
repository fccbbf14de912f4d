"""Joint readings (interpretations) of papers: choices for details that a paper leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reading:
    """Reading (interpretation) of a paper: a choice for every detail that its text leaves open.

    Readings are defined before any result is known, and no item mixes choices of two readings. A
    statement of the paper therefore holds on one drive under one set of choices, or not at all.
    """

    name: str
    choices: Mapping[str, str] = field(default_factory=dict)

    def but(self, name: str, changes: Mapping[str, str]) -> Reading:
        """Return a reading with some choices changed.

        Raises:
            ValueError: a changed choice concerns a detail that this reading does not have.
        """
        if unknown := changes.keys() - self.choices.keys():
            raise ValueError(f"{self.name} has no choice for {', '.join(sorted(unknown))}")
        return Reading(name, {**self.choices, **changes})


# The only reading of papers without open details.
AS_PRINTED = Reading("as printed")


def by_choice(
    readings: Iterable[Reading], detail: str, values: Mapping[str, float]
) -> dict[str, float]:
    """Return a value by reading, from the values by the choice of one detail.

    Raises:
        KeyError: `values` lacks the choice of a reading.
    """
    return {reading.name: values[reading.choices[detail]] for reading in readings}
