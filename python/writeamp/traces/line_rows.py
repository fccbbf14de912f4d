"""Conversion of lines that tracing tools print to rows for the parser of `rows.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from writeamp.traces.source import TextBlock


def numbered_lines(block: TextBlock) -> pl.DataFrame:
    """Return the lines of a block as column `line`, with their numbers in the file as `number`."""
    lines = pl.Series("line", block.text.decode().split("\n"), dtype=pl.String)
    return pl.DataFrame({"line": lines}).with_row_index("number", offset=block.first_line)


def with_fields(
    frame: pl.DataFrame, column: str, pattern: str, names: Sequence[str]
) -> pl.DataFrame:
    """Return a frame with the groups of a pattern as columns; null in rows without a match."""
    groups = pl.col(column).str.extract_groups(pattern).struct.rename_fields(names)
    return frame.with_columns(groups.alias("fields")).unnest("fields")


def with_rows(block: TextBlock, lines: pl.DataFrame, rows: pl.DataFrame) -> TextBlock:
    """Return the block with each request's line replaced by its row, and other lines emptied.

    Empty lines stay, so that line numbers do not change.

    Args:
        block: the block.
        lines: all of its lines, from `numbered_lines`.
        rows: columns `number` and `row` (text) of the lines that are requests.
    """
    texts = lines.select("number").join(
        rows.select("number", "row"), on="number", how="left", maintain_order="left"
    )
    return replace(block, text="\n".join(texts["row"].fill_null("").to_list()).encode())


@dataclass
class LeftOut:
    """Counts of skipped rows and lost events.

    Attributes:
        reasons: number of rows that are not requests, by reason in words.
        lost: events that the recording program reports as lost.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    def notes(self) -> list[str]:
        """Return a note on the rows left out, if there are any."""
        counts = [f"{count} {reason}" for reason, count in self.reasons.items() if count]
        return [f"left out: {', '.join(counts)}"] if counts else []

    def doubts(self) -> list[str]:
        """Return a warning about lost events, if there are any."""
        if not self.lost:
            return []
        return [f"{self.lost} events were lost while recording: requests are missing"]
