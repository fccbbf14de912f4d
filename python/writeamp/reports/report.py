"""Report: a result's document with its command, and the blocks of its page.

Blocks are plain values, which `html.py` and `markdown.py` render.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from writeamp.plots.spec import FigureSpec


@dataclass(frozen=True)
class Report:
    """A result with its command.

    Attributes:
        verb: name of the command, such as "simulate" or "measure counters".
        command: arguments of the command line, without the name of the program.
        document: output of the command with `--json`.
        more: data that the document does not have: the tables of the terminal, and data for
            drawings (see `results/beside.py`).
        version: version of writeamp.
        picture: picture of the result, which a page that is read back does not have.
    """

    verb: str
    command: tuple[str, ...]
    document: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    picture: FigureSpec | None = None

    @property
    def command_line(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(["writeamp", *self.command])

    def with_options(
        self, *options: str, verb: str | None = None, without: Mapping[str, bool] | None = None
    ) -> str:
        """Return a command line with other options, which does not overwrite files of this one.

        Args:
            options: options to add.
            verb: name of the command; by default that of the report.
            without: further options to leave out, and whether each takes a value.
        """
        # Arguments after `--` belong to another command, so options are inserted before it.
        end = self.command.index("--") if "--" in self.command else len(self.command)
        ours, others = self.command[:end], self.command[end:]
        words = _without_options(ours, _OF_OUTPUT | dict(without or {}))
        if verb is not None:
            words[:1] = [verb]
        return shlex.join(["writeamp", *words, *options, *others])


# Options of the output, and whether each takes a value.
_OF_OUTPUT = {
    "--plot": True,
    "--report": True,
    "--save-config": True,
    "--json": False,
    "--csv": False,
    "--series": False,
}


def _without_options(arguments: Iterable[str], dropped: Mapping[str, bool]) -> list[str]:
    words, rest = [], iter(arguments)
    for word in rest:
        name, has_value, _ = word.partition("=")
        if name not in dropped:
            words.append(word)
        elif dropped[name] and not has_value:
            next(rest, None)
    return words


Tone: TypeAlias = Literal["", "answer", "muted", "warning", "good", "bad"]


@dataclass(frozen=True)
class Paragraph:
    """One or more sentences."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Bullets:
    """A list of sentences with bullets."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Rows:
    """A table; names of columns of numbers begin with ">".

    If `folded` is not empty, a page shows only this text until it is clicked.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    folded: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure with a caption.

    Attributes:
        figure: the figure; its title is for screen readers.
        caption: explanation of the figure.
        facts: its numbers, which Markdown shows instead of the figure.
        inside: trusted SVG that is drawn on top of the figure.
    """

    figure: FigureSpec
    caption: str
    facts: str = ""
    inside: str = ""

    @property
    def words(self) -> str:
        """The caption and the facts."""
        return " ".join(filter(None, (self.caption, self.facts)))


@dataclass(frozen=True)
class Controls:
    """Trusted HTML that a script of the page uses, around a drawing; its text is escaped."""

    start: str
    drawing: Drawing
    end: str


Block: TypeAlias = Paragraph | Bullets | Rows | Drawing | Controls


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading.

    Attributes:
        name: anchor of the section in the page.
        title: heading; a section with an empty title is at the top.
        blocks: content.
        command: command that recomputes the content, if any.
        is_folded: True if only the heading is shown until the section is opened.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    command: str | None = None
    is_folded: bool = False
