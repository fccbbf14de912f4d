"""Cards of results: tables of their main facts, for terminals and, as HTML, notebooks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import range_in_words
from writeamp.text import html_text

if TYPE_CHECKING:
    import numpy.typing as npt

# A longer table is cut, with a line that says so; the data frame has all.
_MOST_ROWS = 60
# What an eye can tell in a line of that width.
_MOST_POINTS = 160
_WIDTH, _HEIGHT, _RIM = 320, 48, 2

# Colours are the page's own, so that tables are readable on light and on dark pages.
_RULE = "border:0;border-bottom:1px solid rgba(128,128,128,.3);"
_CELL = f"{_RULE}padding:.15em .7em;background:none;"
_TABLE = "border-collapse:collapse;color:inherit;margin:.4em 0"


@dataclass(frozen=True)
class Spark:
    """A line without axes: `y` over rising `x`, shape (n,) each, and what it shows in words."""

    x: npt.ArrayLike
    y: npt.ArrayLike
    caption: str


@dataclass(frozen=True)
class Card:
    """The main facts of a result in words.

    Without `columns`, each row is a name and a value; a column whose name begins with ">" is
    aligned to the right. A card without rows and `columns` is its title, of
    `parts` if there are any.

    Attributes:
        parts: further tables, each with its notes below it.
        is_ruled: whether a terminal draws lines around cells; tables of sentences have none.
    """

    title: str
    rows: Sequence[Sequence[str]]
    columns: Sequence[str] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    spark: Spark | None = None
    parts: Sequence[Card] = ()
    is_ruled: bool = True


def html_of(card: Card) -> str:
    """Return the card as a piece of HTML, all texts in it escaped."""
    parts = [
        f'<div class="writeamp"><div><strong>{html_text(card.title)}</strong></div>',
        _table(card),
        *([] if card.spark is None else [_line(card.spark)]),
        *(
            html
            for part in card.parts
            for html in (f"<div>{html_text(part.title)}</div>", _table(part), *_notes(part))
        ),
        *(f"<div>⚠ {html_text(sentence)}</div>" for sentence in card.warnings),
        *_notes(card),
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _notes(card: Card) -> list[str]:
    return [f'<div style="opacity:.75">{html_text(sentence)}</div>' for sentence in card.notes]


def _table(card: Card) -> str:
    if not card.rows:
        return ""
    names = card.columns or ("", "")
    sides = ["right" if name.startswith(">") else "left" for name in names]
    lines = [_row("td", row, sides) for row in card.rows[:_MOST_ROWS]]
    if card.columns:
        lines.insert(0, _row("th", [name.removeprefix(">") for name in names], sides))
    more = len(card.rows) - _MOST_ROWS
    cut = f"<div>… and {more:,} more rows, which to_frame() has</div>" if more > 0 else ""
    return f'<table style="{_TABLE}">{"".join(lines)}</table>{cut}'


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    made = (
        f'<{tag} style="{_CELL}text-align:{side}">{html_text(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f'<tr style="background:none">{"".join(made)}</tr>'


def _line(spark: Spark) -> str:
    import numpy as np  # noqa: PLC0415 (slow)

    x, y = (np.asarray(values, np.float64) for values in (spark.x, spark.y))
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if x.size < 2:
        return ""
    ends = np.unique(np.linspace(0, x.size, min(x.size, _MOST_POINTS) + 1).astype(int))
    means = [(x[low:high].mean(), y[low:high].mean()) for low, high in pairwise(ends)]
    across, up = np.array(means).T
    left = _RIM + (across - across[0]) / (np.ptp(across) or 1.0) * (_WIDTH - 2 * _RIM)
    top = _HEIGHT - _RIM - (up - up.min()) / (np.ptp(up) or 1.0) * (_HEIGHT - 2 * _RIM)
    points = " ".join(f"{one:.1f},{other:.1f}" for one, other in zip(left, top, strict=True))
    caption = f"{spark.caption}, {range_in_words(up.min(), up.max())}"
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{html_text(caption)}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
        f'<div style="opacity:.75">{html_text(caption)}</div>'
    )


class Presented(AnyResult):
    """A result that notebooks show."""

    @abstractmethod
    def card(self) -> Card:
        """Return the main facts in words, as a notebook and the command show them."""

    def _repr_html_(self) -> str:
        return html_of(self.card())
