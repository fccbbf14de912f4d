"""Joint readings: full sets of choices for what a paper leaves open, stated before looking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reading:
    """Reading of a whole paper: a choice for every detail that its text leaves open.

    No item may borrow a choice from another reading: what a paper says is then either found by one
    drive under one set of choices, or it is not.
    """

    name: str
    choices: Mapping[str, str] = field(default_factory=dict)

    def but(self, name: str, changes: Mapping[str, str]) -> Reading:
        """Return a reading with some choices changed.

        Raises:
            ValueError: one of them is of a detail that this reading knows nothing of.
        """
        if unknown := changes.keys() - self.choices.keys():
            raise ValueError(f"{self.name} chooses nothing of {', '.join(sorted(unknown))}")
        return Reading(name, {**self.choices, **changes})


# Of a paper that leaves nothing open.
AS_PRINTED = Reading("as printed")


def by_choice(
    readings: Iterable[Reading], detail: str, values: Mapping[str, float]
) -> dict[str, float]:
    """Return a value by the name of each reading, given the values by the choice of one detail.

    Raises:
        KeyError: a reading chooses what `values` do not have.
    """
    return {reading.name: values[reading.choices[detail]] for reading in readings}
