"""Results that have a figure, drawn into a file or in a notebook."""

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
    """A figure that a notebook shows, drawn when it is shown or saved."""

    figure: FigureSpec

    def save(self, path: str | PathLike[str]) -> None:
        """Draw it to a .png, .svg, .pdf or .html file.

        Raises:
            WriteampError: the suffix is another, or the file cannot be written.
        """
        save(self.figure, path)

    def _repr_svg_(self) -> str:
        drawn = rendered(self.figure, ".svg").decode()
        return drawn[drawn.index("<svg") :]

    def __repr__(self) -> str:
        """Return the title in brackets: a shell cannot show more."""
        return f"<Picture: {self.figure.title}; save(path) draws it to a file>"


class Drawn(Presented, ComparedByValue):
    """A result that has a figure, and is compared by all that it holds."""

    @abstractmethod
    def figure(self) -> FigureSpec:
        """Describe the figure."""

    def plot(self, path: str | PathLike[str] | None = None) -> Picture | None:
        """Draw the figure to a .png, .svg, .pdf or .html file, or without a path in the notebook.

        Returns:
            The picture that a notebook shows, if there is no path.

        Raises:
            WriteampError: the suffix is another, or the file cannot be written.
        """
        return draw(self.figure(), path)


def draw(figure: FigureSpec, path: str | PathLike[str] | None) -> Picture | None:
    """Draw a figure to a file, or without a path return the picture that a notebook shows.

    Raises:
        WriteampError: the suffix is none of a picture, or the file cannot be written.
    """
    picture = Picture(figure)
    if path is None:
        return picture
    picture.save(path)
    return None
