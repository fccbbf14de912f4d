"""Terminal output: tables fit any width, and foreign text is escaped.

Names and numbers are never cut.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from writeamp.text import printable

LEAST_COLUMNS = 40
# Longer words, such as specs and paths, are broken if a table is too wide.
_LONGEST_WORD = 16
_BREAKS = re.compile(r"(?<=[/-])(?=\S)|\s+")


class Terminal(Console):
    """Console that cuts nothing, and treats every `str` as foreign text.

    A table that is too wide is printed with narrower columns, then as a list of each row, and as
    the last resort with lines longer than the terminal's. Control characters and markup in a `str`
    are shown, not executed; writeamp's own styles and line breaks are passed as `Text`.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        """Print to stdout or stderr."""
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render_str(self, text: str, **how: Any) -> Text:
        """Return foreign text with its control characters escaped."""
        return super().render_str(printable(text), **how)

    def has_room_for(self, table: Table) -> bool:
        """Return whether the table is printed as a table, and not as a list of each row."""
        room = max(self.width, LEAST_COLUMNS)
        return any(_least_columns(form) <= room for form in (table, _closer(table)))

    def print(self, *objects: Any, **how: Any) -> None:
        """Print objects without cutting any of them."""
        room = max(self.width, LEAST_COLUMNS)
        shown = [_fitting(item, room) if isinstance(item, Table) else item for item in objects]
        tables = [_least_columns(item) for item in shown if isinstance(item, Table)]
        # A copy: setting the width of this console would fix it for its lifetime.
        wide = copy(self)
        wide.width = max([room, *tables])
        super(Terminal, wide).print(*shown, **how)


def _fitting(table: Table, columns: int) -> Table:
    """Return the widest form of a table that fits: unchanged, narrower, or rows as lists."""
    narrower = (_tighter(table), _closer(table)) if table.show_header else ()
    for form in (table, *narrower):
        if _least_columns(form) <= columns:
            return _shared(form, columns)
    return _stacked(table) if table.show_header else table


def _tighter(table: Table) -> Table:
    """Return a table without padding."""
    tighter = _copied(table)
    tighter.padding = 0
    return tighter


def _closer(table: Table) -> Table:
    """Return a table without padding, with the headings of its numbers broken into lines."""
    closer = _tighter(table)
    for column in closer.columns:
        if column.no_wrap:
            column.header = Text("\n".join(_BREAKS.split(str(column.header))))
    return closer


def _shared(table: Table, columns: int) -> Table:
    """Return a table whose columns share the spare room; those that lack least get it first."""
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
    """Return a table in which each row is a list of column names and cells."""
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
            stacked.add_row(heading, cell)
    return stacked


def _least_columns(table: Table) -> int:
    """Return the least width at which numbers and all but the longest words stay whole."""
    return sum(_widths(table, shortest=True)) + _beside(table)


def _widths(table: Table, *, shortest: bool) -> list[int]:
    """Return the least width of each column, or the width at which it breaks no line."""
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
    return len(table.columns) * (1 + right + left) + 1
