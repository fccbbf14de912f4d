"""Interface of a way to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from writeamp.answers.question import Question
from writeamp.answers.row import WayRow

# Is called with what is being done, how far it is, and of how much.
Tell: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Way:
    """A way to answer: its name, its rows, and the seconds that it will take.

    `rows` gives rows without an answer where it has none, and raises nothing but Ctrl-C and errors
    of what was given. `expected_s` is an estimate, by which `--quick` leaves a way out; `assumes`
    is then what its row says.
    """

    name: str
    rows: Callable[[Question, Tell], Iterable[WayRow]]
    assumes: str
    expected_s: Callable[[Question], float] = lambda question: 0.0
