"""Terminal output: tables fit any width, and text from outside is escaped.

No name and no number is cut.
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
# Words longer than this are broken, for which nothing else makes room: specs, paths.
_LONGEST_WORD = 16
_BREAKS = re.compile(r"(?<=[/-])(?=\S)|\s+")


class Terminal(Console):
    """A console that loses nothing, and to which every `str` is text of others.

    A table that would lose something has its columns closer together, or below each other, and
    where even that is too wide, lines longer than the terminal's. Text of others is shown as it is,
    and never obeyed; styles and line breaks are ours, and come as `Text`.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        """Print to stdout or stderr."""
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render_str(self, text: str, **how: Any) -> Text:
        """Return text from outside as it is shown."""
        return super().render_str(printable(text), **how)

    def has_room_for(self, table: Table) -> bool:
        """Return whether a table stays one, and is not printed as a list of each row."""
        room = max(self.width, LEAST_COLUMNS)
        return any(_least_columns(one) <= room for one in (table, _closer(table)))

    def print(self, *objects: Any, **how: Any) -> None:
        """Print; the terminal breaks lines that are too long for it, which loses nothing."""
        room = max(self.width, LEAST_COLUMNS)
        shown = [_fitting(one, room) if isinstance(one, Table) else one for one in objects]
        tables = [_least_columns(one) for one in shown if isinstance(one, Table)]
        # A width that is set stays, whatever becomes of the terminal.
        wide = copy(self)
        wide.width = max([room, *tables])
        super(Terminal, wide).print(*shown, **how)


def _fitting(table: Table, columns: int) -> Table:
    """Return a table as the terminal has room for it: as it is, closer, or with rows as lists."""
    narrower = (_tighter(table), _closer(table)) if table.show_header else ()
    for one in (table, *narrower):
        if _least_columns(one) <= columns:
            return _dealt(one, columns)
    return _stacked(table) if table.show_header else table


def _tighter(table: Table) -> Table:
    """Return a table without space beside its lines."""
    tighter = _copied(table)
    tighter.padding = 0
    return tighter


def _closer(table: Table) -> Table:
    """Return a tighter table, the headings of its numbers broken, also inside a unit."""
    closer = _tighter(table)
    for column in closer.columns:
        if column.no_wrap:
            column.header = Text("\n".join(_BREAKS.split(str(column.header))))
    return closer


def _dealt(table: Table, columns: int) -> Table:
    """Return a table whose columns share the room, those first that lack little: names, numbers."""
    least, whole = _widths(table, shortest=True), _widths(table, shortest=False)
    room = columns - _beside(table) - sum(least)
    lacking = [most - fewest for fewest, most in zip(least, whole, strict=True)]
    if sum(lacking) <= room:
        return table
    dealt = _copied(table)
    by_lack = sorted(range(len(lacking)), key=lacking.__getitem__)
    for others, at in zip(reversed(range(len(by_lack))), by_lack, strict=True):
        share = min(lacking[at], room // (others + 1))
        dealt.columns[at].width = least[at] + share
        room -= share
    return dealt


def _copied(table: Table) -> Table:
    copied = copy(table)
    copied.columns = [copy(column) for column in table.columns]
    return copied


def _stacked(table: Table) -> Table:
    """Return a table in which each row is a list of what the columns call its cells."""
    found = Table(
        title=table.title,
        title_justify=table.title_justify,
        title_style=table.title_style,
        show_header=False,
    )
    found.add_column(no_wrap=True)
    found.add_column(overflow="fold")
    headings = [" ".join(str(column.header).split()) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        found.add_section()
        for heading, cell in zip(headings, cells, strict=True):
            found.add_row(heading, cell)
    return found


def _least_columns(table: Table) -> int:
    """Return the columns at which every number stays whole, and every word but the longest."""
    return sum(_widths(table, shortest=True)) + _beside(table)


def _widths(table: Table, *, shortest: bool) -> list[int]:
    """Return the least width of each column, or that at which it breaks no line."""
    found = []
    for column in table.columns:
        headings = (column.header,) if table.show_header else ()
        lines = [line for cell in (*headings, *column.cells) for line in str(cell).splitlines()]
        if shortest and not column.no_wrap:
            lines = [word[:_LONGEST_WORD] for line in lines for word in line.split()]
        found.append(max([column.min_width or 0, *map(cell_len, lines)]))
    return found


def _beside(table: Table) -> int:
    """Return the columns that a table has beside those of its cells: lines, and space at them."""
    _, right, _, left = table.padding
    return len(table.columns) * (1 + right + left) + 1
