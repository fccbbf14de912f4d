"""Lines of a text with stated columns that are requests; the others are emptied."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.columns import Columns
from writeamp.traces.line_rows import numbered_lines, with_rows
from writeamp.traces.quoting import quoted
from writeamp.traces.rows import squeeze
from writeamp.traces.source import Block


class Selecting:
    """Rows that count: not passed over at the beginning, no comment, and with a word of `only`."""

    def __init__(
        self, path: Path, columns: Columns, position: int | None, passed_lines: int
    ) -> None:
        """Begin at the start of a file.

        Args:
            path: the file.
            columns: what was stated.
            position: of the column of `only`, from 0; None without it.
            passed_lines: lines at the beginning that are no rows.
        """
        self._path, self._only, self._position = path, columns.only, position
        self._separator = columns.separator
        self._empty = emptying(columns.comment, passed_lines)
        self._kept = self._passed = 0

    def rows_of(self, block: Block) -> Block:
        """Return the block with the rows that count, and all other lines empty."""
        block = self._empty(block)
        if self._only is None or self._position is None:
            return block
        lines = numbered_lines(replace(block, text=squeeze(block.text, self._separator)))
        rows = lines.filter(pl.col("line") != "")
        word = pl.col("line").str.split(self._separator).list.get(self._position, null_on_oob=True)
        kept = rows.filter(word.is_in(self._only.words))
        self._kept += kept.height
        self._passed += rows.height - kept.height
        return with_rows(block, lines, kept.rename({"line": "row"}))

    def notes(self) -> list[str]:
        """Return a note on the rows passed over.

        Raises:
            WriteampError: no row counts.
        """
        if self._only is None:
            return []
        words = " or ".join(map(quoted, self._only.words))
        if not self._kept:
            raise WriteampError(f"{self._path}: no row has {words} in column {self._only.where}")
        return [f"{self._passed} rows without {words} in column {self._only.where} are passed over"]


def emptying(comment: str, passed_lines: int) -> Callable[[Block], Block]:
    """Return a function that empties the first lines of a file, and comment lines.

    Empty lines stay, so that the numbers of the others hold.
    """
    prefix = comment.encode()
    is_comment = re.compile(rb"^[ \t]*" + re.escape(prefix) + rb"[^\n]*", re.MULTILINE)

    def empty(block: Block) -> Block:
        text = block.text
        passed = min(max(0, passed_lines - (block.first_line - 1)), text.count(b"\n") + 1)
        if passed:
            rest = text.split(b"\n", passed)
            text = b"\n" * passed + (rest[passed] if len(rest) > passed else b"")
        if prefix and prefix in text:
            text = is_comment.sub(b"", text)
        return block if text is block.text else replace(block, text=text)

    return empty
