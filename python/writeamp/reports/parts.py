"""Parts of a report: sections of paragraphs, tables, drawings and commands.

They are plain values, from which `html.py` makes a page and `markdown.py` a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
    """An SVG of ours, all text in it escaped, and sentences under it.

    Attributes:
        svg: the drawing.
        caption: how it is read.
        facts: numbers of it, which also stand where it does not.
    """

    svg: str
    caption: str
    facts: str = ""

    @property
    def words(self) -> str:
        """The sentences under it."""
        return " ".join(filter(None, (self.caption, self.facts)))


@dataclass(frozen=True)
class Controls:
    """HTML of ours that a script brings to life, all text in it escaped."""

    html: str


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
