"""Interface of a cause of difference: the one thing that is switched to measure it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from writeamp.answers.case import Case
from writeamp.answers.question import Question

THEORY = ("formula", "mean-field")
# Of what is shown a window of the load alone.
WINDOWED = ("timed", "virtual")


@dataclass(frozen=True)
class Cause:
    """A cause of difference between the simulation and another way.

    `switch` returns the case with that one thing switched, so that it is nearer to the way (of the
    kind that it is told), or None where there is nothing to switch. Causes that begin `at_way`
    switch a run of the way itself, which comes nearer to the simulation by each. What is
    `of_drive` parts the simulation from theories of this very load, too.
    """

    name: str
    explains: tuple[str, ...]
    switch: Callable[[Question, Case, str], Case | None]
    at_way: bool = False
    of_drive: bool = False
