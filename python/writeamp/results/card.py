"""Cards of results: tables of their main values, for terminals and notebooks (HTML)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import range_in_words
from writeamp.text import html_text

if TYPE_CHECKING:
    import numpy.typing as npt

# Maximum number of rows of a table; the data frame has all rows.
_MOST_ROWS = 60
# Maximum number of points of a line; more points would be indistinguishable at the line's width.
_MOST_POINTS = 160
_WIDTH, _HEIGHT, _RIM = 320, 48, 2

# Colours are inherited, so that tables are readable on light and dark pages.
_RULE = "border:0;border-bottom:1px solid rgba(128,128,128,.3);"
_CELL = f"{_RULE}padding:.15em .7em;background:none;"
_TABLE = "border-collapse:collapse;color:inherit;margin:.4em 0"


@dataclass(frozen=True)
class Spark:
    """A line without axes: `y` over increasing `x`, both of shape (n,), and a caption."""

    x: npt.ArrayLike
    y: npt.ArrayLike
    caption: str


@dataclass(frozen=True)
class Card:
    """The main values of a result as text.

    Without `columns`, each row is a name and a value. Columns with a name that begins with ">" are
    aligned to the right. Without rows, only the title and the `parts` are shown.

    Attributes:
        legend: sentences that explain the signs in the tables, printed below them.
        parts: further tables, each with its notes below.
        is_ruled: True to draw lines around cells in a terminal; False for tables of sentences.
    """

    title: str
    rows: Sequence[Sequence[str]]
    columns: Sequence[str] = ()
    legend: Sequence[str] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    spark: Spark | None = None
    parts: Sequence[Card] = ()
    is_ruled: bool = True


def cut_rows(
    rows: Sequence[Sequence[str]], count: int, columns: Sequence[str]
) -> list[Sequence[str]]:
    """Return rows with a last one that states how many of all `count` rows are missing."""
    if count <= len(rows):
        return list(rows)
    return [*rows, (f"… and {count - len(rows):,} more (--json)", *[""] * (len(columns) - 1))]


def without_empty_columns(card: Card) -> Card:
    """Return a card with columns without the columns that are empty in all rows."""
    filled = [at for at in range(len(card.columns)) if any(row[at] for row in card.rows)]
    if len(filled) == len(card.columns) or not card.rows:
        return card
    rows = [tuple(row[at] for at in filled) for row in card.rows]
    return replace(card, rows=rows, columns=tuple(card.columns[at] for at in filled))


def html_of(card: Card) -> str:
    """Return the card as HTML, with all texts escaped."""
    pieces = [
        f'<div class="writeamp"><div><strong>{html_text(card.title)}</strong></div>',
        _table(card),
        *([] if card.spark is None else [_line(card.spark)]),
        *(
            html
            for section in card.parts
            for html in (
                f"<div>{html_text(section.title)}</div>",
                _table(section),
                *_notes(section),
            )
        ),
        *(f"<div>{html_text(sentence)}</div>" for sentence in card.legend),
        *(f"<div>⚠ {html_text(sentence)}</div>" for sentence in card.warnings),
        *_notes(card),
        "</div>",
    ]
    return "\n".join(piece for piece in pieces if piece)


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
    cut = f"<div>… and {more:,} more rows, see to_frame()</div>" if more > 0 else ""
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
    is_finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_finite], y[is_finite]
    if x.size < 2:
        return ""
    ends = np.unique(np.linspace(0, x.size, min(x.size, _MOST_POINTS) + 1).astype(int))
    means = [(x[low:high].mean(), y[low:high].mean()) for low, high in pairwise(ends)]
    across, up = np.array(means).T
    left = _RIM + (across - across[0]) / (np.ptp(across) or 1.0) * (_WIDTH - 2 * _RIM)
    top = _HEIGHT - _RIM - (up - up.min()) / (np.ptp(up) or 1.0) * (_HEIGHT - 2 * _RIM)
    points = " ".join(
        f"{across_px:.1f},{up_px:.1f}" for across_px, up_px in zip(left, top, strict=True)
    )
    caption = f"{spark.caption}, {range_in_words(up.min(), up.max())}"
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{html_text(caption)}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
        f'<div style="opacity:.75">{html_text(caption)}</div>'
    )


class Presented(AnyResult):
    """A result with a card, which notebooks show."""

    @abstractmethod
    def card(self) -> Card:
        """Return the main values as text, for notebooks and the command."""

    def _repr_html_(self) -> str:
        return html_of(self.card())
