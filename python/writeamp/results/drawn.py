"""Results with a figure, which is drawn into a file or a notebook."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from os import PathLike

from writeamp.plots.output import rendered, save
from writeamp.plots.spec import FigureSpec
from writeamp.results.card import Presented
from writeamp.results.equality import ComparedByValue


@dataclass(frozen=True)
class Picture:
    """A figure that is drawn when a notebook shows it or when it is saved."""

    figure: FigureSpec

    def save(self, path: str | PathLike[str]) -> None:
        """Draw the figure to a .png, .svg, .pdf or .html file.

        Raises:
            WriteampError: another suffix, or the file cannot be written.
        """
        save(self.figure, path)

    def _repr_svg_(self) -> str:
        drawn = rendered(self.figure, ".svg").decode()
        return drawn[drawn.index("<svg") :]

    def __repr__(self) -> str:
        """Return the title in brackets, for shells."""
        return f"<Picture: {self.figure.title}; use save(path) to draw it to a file>"


class Drawn(Presented, ComparedByValue):
    """A result that has a figure and is compared by value."""

    @abstractmethod
    def figure(self) -> FigureSpec:
        """Return the specification of the figure."""

    def plot(self, path: str | PathLike[str] | None = None) -> Picture | None:
        """Draw the figure to a .png, .svg, .pdf or .html file, or in the notebook without a path.

        Returns:
            A picture for the notebook if `path` is None, otherwise None.

        Raises:
            WriteampError: another suffix, or the file cannot be written.
        """
        return draw(self.figure(), path)


def draw(figure: FigureSpec, path: str | PathLike[str] | None) -> Picture | None:
    """Draw a figure to a file, or return a picture for the notebook if `path` is None.

    Raises:
        WriteampError: an unsupported suffix, or the file cannot be written.
    """
    picture = Picture(figure)
    if path is None:
        return picture
    picture.save(path)
    return None
