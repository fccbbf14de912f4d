"""What every way to look at results has in common: a figure, a table and a document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from writeamp.plots.output import save
from writeamp.plots.spec import FigureSpec
from writeamp.sweeps.summary import Group
from writeamp.sweeps.tidy import Tidy, word_of


class View(ABC):
    """What is seen in results."""

    @abstractmethod
    def figure(self) -> FigureSpec:
        """Describe the picture."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what the picture shows as JSON types."""

    def plot(self, path: str | Path) -> None:
        """Draw it to a .png, .svg, .pdf or .html file.

        Raises:
            WriteampError: the suffix is another, the file cannot be written, or nothing is shown.
        """
        save(self.figure(), path)


def beside(tidy: Tidy, named: Sequence[str]) -> list[str]:
    """Return the axes without a part in a picture: they go ahead with those that have one."""
    return [name for name in tidy.varying if name not in named]


def without_axis(count: int, axis: str) -> str:
    """Return what a subtitle says of choices that have no place on an axis."""
    return f" · {count} points without {axis} are left out" if count else ""


def subtitle_of(tidy: Tidy, groups: Sequence[Group], named: Sequence[str]) -> str:
    """Return what all points of a picture have in common, and how many there are."""
    fixed = [
        f"{name} = {word_of(tidy.frame[name][0])}"
        for name in (*tidy.parameters, "op", "workload", "manager")
        if name not in named and name in tidy.settings and tidy.frame[name].n_unique() == 1
    ]
    runs, failed = (sum(getattr(one, name) for one in groups) for name in ("runs", "failed"))
    each = sorted({one.runs for one in groups})
    counted = f"{each[0]}" if each[0] == each[-1] else f"{each[0]} to {each[-1]}"
    times = "" if each == [1] else f" × {counted} runs"
    words = [*dict.fromkeys(fixed), f"{len(groups)} points{times}"]
    if failed:
        words.append(f"{failed} of {runs} runs failed and are left out")
    return " · ".join(words)
