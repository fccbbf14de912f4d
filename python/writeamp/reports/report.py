"""Report: a result's document with its command, and the parts of its page.

The parts are plain values, from which `html.py` makes a page and `markdown.py` a text.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from writeamp.plots.spec import FigureSpec


@dataclass(frozen=True)
class Report:
    """A result as a page tells it.

    Attributes:
        verb: that found it, such as "simulate" or "measure counters".
        command: arguments of the command line, without the name of the program.
        document: what the verb prints with `--json`.
        more: what is drawn and in no document, as `results/beside.py` has it.
        version: of writeamp.
    """

    verb: str
    command: tuple[str, ...]
    document: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @property
    def command_line(self) -> str:
        """The command as a shell takes it."""
        return shlex.join(["writeamp", *self.command])

    def with_options(self, *options: str) -> str:
        """Return the command line with more options, those that it does not have yet."""
        # What follows `--` is of another command.
        end = self.command.index("--") if "--" in self.command else len(self.command)
        ours, others = self.command[:end], self.command[end:]
        more = [one for one in options if one not in ours]
        return shlex.join(["writeamp", *ours, *more, *others])


Tone: TypeAlias = Literal["", "answer", "muted", "warning", "good", "bad"]


@dataclass(frozen=True)
class Paragraph:
    """A sentence or some."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Bullets:
    """Sentences below each other, each with a mark."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Rows:
    """A table; a column whose name begins with ">" holds numbers.

    With `folded`, a page shows these words alone until they are pressed.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    folded: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure, and sentences under it.

    Attributes:
        figure: the figure, whose title is for those who cannot see it.
        caption: how it is read.
        facts: numbers of it, which also stand where it does not.
        inside: SVG of ours that is drawn on the figure.
    """

    figure: FigureSpec
    caption: str
    facts: str = ""
    inside: str = ""

    @property
    def words(self) -> str:
        """The sentences under it."""
        return " ".join(filter(None, (self.caption, self.facts)))


@dataclass(frozen=True)
class Controls:
    """HTML of ours that a script brings to life, all text in it escaped, around a drawing."""

    start: str
    drawing: Drawing
    end: str


Block: TypeAlias = Paragraph | Bullets | Rows | Drawing | Controls


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading.

    Attributes:
        name: its anchor in the page.
        title: its heading; without one, it stands at the top.
        blocks: what it shows.
        command: what finds it anew, if that is a command.
        is_folded: whether it shows its heading alone until it is opened.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    command: str | None = None
    is_folded: bool = False
