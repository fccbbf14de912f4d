"""Terminal output: tables fit any width, and foreign text is escaped.

Names and numbers are never cut.
"""

from __future__ import annotations

import re
from copy import copy
from textwrap import wrap
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from writeamp.text import printable

LEAST_COLUMNS = 40
# Words longer than this, such as specs and paths, are broken if a table is too wide.
_LONGEST_WORD = 16
# Headings of numeric columns are not folded into lines shorter than this.
_SHORTEST_HEADING = 9
_BREAKS = re.compile(r"(?<=[/-])(?=\S)|\s+")


class Terminal(Console):
    """Console that cuts no text, and treats every `str` as text from outside of writeamp.

    If a table is too wide, it is printed with narrower columns. If that is still too wide, each row
    is printed as a list; as the last resort, lines are longer than the terminal's width. Control
    characters and markup in a `str` are shown, not executed; writeamp's own styles and line breaks
    are passed as `Text`.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        """Set whether to print to stdout or stderr."""
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise `BrokenPipeError` again, which `main` handles; rich would exit at once."""
        raise  # noqa: PLE0704 (rich calls this function where it handles the error)

    def render_str(self, text: str, **how: Any) -> Text:
        """Return text from outside of writeamp with control characters escaped."""
        return super().render_str(printable(text), **how)

    def has_room_for(self, table: Table) -> bool:
        """Return whether a table fits as a table; otherwise each row is printed as a list."""
        room = max(self.width, LEAST_COLUMNS)
        return any(_least_columns(form) <= room for form in (table, _closer(table)))

    def print(self, *objects: Any, **how: Any) -> None:
        """Print objects without cutting any of them."""
        room = max(self.width, LEAST_COLUMNS)
        shown = [_fitting(item, room) if isinstance(item, Table) else item for item in objects]
        tables = [_least_columns(item) for item in shown if isinstance(item, Table)]
        # A copy gets the larger width, because a width that is set stays fixed for the lifetime of
        # a console.
        wide = copy(self)
        wide.width = max([room, *tables])
        super(Terminal, wide).print(*shown, **how)


def _fitting(table: Table, columns: int) -> Table:
    """Return the first form of a table that fits: unchanged, narrower, or each row as a list."""
    folded = _folded(table)
    narrower = [folded, _tighter(folded), _tightest(folded), _closer(table)]
    for form in [table, *(narrower if table.show_header else [])]:
        if _least_columns(form) <= columns:
            return _shared(form, columns)
    return _stacked(table) if table.show_header else table


def _folded(table: Table) -> Table:
    """Return a table whose numeric columns' headings of several words are folded into lines."""
    folded = _copied(table)
    for column in folded.columns:
        if column.no_wrap:
            cells = max([_SHORTEST_HEADING, *(cell_len(str(cell)) for cell in column.cells)])
            column.header = Text(
                "\n".join(
                    wrap(str(column.header), cells, break_long_words=False, break_on_hyphens=False)
                )
            )
    return folded


def _tighter(table: Table) -> Table:
    """Return a table with a space only after each cell."""
    tighter = _copied(table)
    tighter.padding = (0, 1, 0, 0)
    return tighter


def _tightest(table: Table) -> Table:
    """Return a table without padding; without lines, a space remains between its columns."""
    tightest = _tighter(table)
    if table.box is not None:
        tightest.padding = 0
    return tightest


def _closer(table: Table) -> Table:
    """Return a table without padding; headings of numeric columns are broken into lines."""
    closer = _tightest(table)
    for column in closer.columns:
        if column.no_wrap:
            column.header = Text("\n".join(_BREAKS.split(str(column.header))))
    return closer


def _shared(table: Table, columns: int) -> Table:
    """Return a table in which columns share the remaining width; small needs are met first."""
    least, whole = _widths(table, shortest=True), _widths(table, shortest=False)
    room = columns - _beside(table) - sum(least)
    lacking = [most - fewest for fewest, most in zip(least, whole, strict=True)]
    if sum(lacking) <= room:
        return table
    shared = _copied(table)
    by_lack = sorted(range(len(lacking)), key=lacking.__getitem__)
    for others, at in zip(reversed(range(len(by_lack))), by_lack, strict=True):
        share = min(lacking[at], room // (others + 1))
        shared.columns[at].width = least[at] + share
        room -= share
    return shared


def _copied(table: Table) -> Table:
    copied = copy(table)
    copied.columns = [copy(column) for column in table.columns]
    return copied


def _stacked(table: Table) -> Table:
    """Return a table in which each row is a list of pairs of column name and cell, if not empty."""
    stacked = Table(
        title=table.title,
        title_justify=table.title_justify,
        title_style=table.title_style,
        show_header=False,
    )
    stacked.add_column(no_wrap=True)
    stacked.add_column(overflow="fold")
    headings = [" ".join(str(column.header).split()) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        stacked.add_section()
        for heading, cell in zip(headings, cells, strict=True):
            if str(cell):
                stacked.add_row(heading, cell)
    return stacked


def _least_columns(table: Table) -> int:
    """Return the least width of a table in which numbers and ordinary words stay whole."""
    return sum(_widths(table, shortest=True)) + _beside(table)


def _widths(table: Table, *, shortest: bool) -> list[int]:
    """Return for each column the least width, or the width at which it breaks no line."""
    widths = []
    for column in table.columns:
        headings = (column.header,) if table.show_header else ()
        lines = [line for cell in (*headings, *column.cells) for line in str(cell).splitlines()]
        if shortest and not column.no_wrap:
            lines = [word[:_LONGEST_WORD] for line in lines for word in line.split()]
        widths.append(max([column.min_width or 0, *map(cell_len, lines)]))
    return widths


def _beside(table: Table) -> int:
    """Return the width of a table's lines and padding."""
    _, right, _, left = table.padding
    between = len(table.columns) * (right + left)
    if table.box is None:
        return between if table.pad_edge else between - right - left
    return between + len(table.columns) + 1
