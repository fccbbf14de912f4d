"""The terminal: too narrow for no name and no number, and never obeying the text of others."""

from __future__ import annotations

import os
import shutil
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from writeamp.text import printable

LEAST_COLUMNS = 60
# Help cuts the names of options below this.
_HELP_COLUMNS = 80
# Words longer than this are broken, for which nothing else makes room: specs, paths.
_LONGEST_WORD = 16


def widen() -> None:
    """Tell what asks the environment for the width, as help does, of no less than it can use."""
    asked = os.environ.get("COLUMNS", "")
    columns = int(asked) if asked.isdecimal() else shutil.get_terminal_size().columns
    if columns < _HELP_COLUMNS:
        os.environ["COLUMNS"] = str(_HELP_COLUMNS)


class Terminal(Console):
    """A console that loses nothing, and to which every `str` is text of others.

    Its lines are longer than the terminal's where a table would lose something. Text of others is
    shown as it is, and never obeyed; styles and line breaks are ours, and come as `Text`.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        """Print to stdout or stderr."""
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render_str(self, text: str, **how: Any) -> Text:
        """Return text of others as it is shown."""
        return super().render_str(printable(text), **how)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print; the terminal breaks lines that are too long for it, which loses nothing."""
        columns = self.width
        tables = [_least_columns(one) for one in objects if isinstance(one, Table)]
        self.width = max([columns, LEAST_COLUMNS, *tables])
        try:
            super().print(*objects, **how)
        finally:
            self.width = columns


def _least_columns(table: Table) -> int:
    """Return the columns at which every number stays whole, and every word but the longest."""
    widths = []
    for column in table.columns:
        cells = [str(cell) for cell in (column.header, *column.cells)]
        if column.no_wrap:
            pieces = [line for cell in cells for line in cell.splitlines()]
        else:
            pieces = [word[:_LONGEST_WORD] for cell in cells for word in cell.split()]
        widths.append(max([column.min_width or 0, *map(len, pieces)]))
    return sum(width + 3 for width in widths) + 1
