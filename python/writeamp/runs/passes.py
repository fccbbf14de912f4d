"""Write amplification of each pass over a trace."""

from __future__ import annotations

from itertools import pairwise

import polars as pl

_SCHEMA = {"pass": pl.Int64, "host_pages": pl.Int64, "wa": pl.Float64}


class PassLog:
    """Log of the flash pages programmed at the end of each pass over a trace.

    A run without a trace (`pass_pages` None) has no passes.
    """

    def __init__(self, pass_pages: int | None, programmed: int) -> None:
        """Begin where `programmed` pages had been programmed."""
        self._pass_pages = pass_pages
        self._ends = [(0, programmed)]

    def left(self, done_pages: int, most: int) -> int:
        """Return how many host pages may come before a pass ends, at most `most`."""
        if self._pass_pages is None:
            return most
        return min(most, self._pass_pages - done_pages % self._pass_pages)

    def ends(self, done_pages: int) -> bool:
        """Return whether a pass has ended there."""
        return self._pass_pages is not None and done_pages % self._pass_pages == 0

    def add(self, done_pages: int, programmed: int) -> None:
        """Note a pass's end, or that of the run within a pass."""
        if self._pass_pages is not None and done_pages > self._ends[-1][0]:
            self._ends.append((done_pages, programmed))

    @property
    def flash_pages(self) -> list[int]:
        """Pages programmed in each pass."""
        return [after - before for (_, before), (_, after) in pairwise(self._ends)]

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row a pass: its number `pass` from 1, its `host_pages`, and `wa` in it."""
        host_pages = [end - first for (first, _), (end, _) in pairwise(self._ends)]
        spans = zip(host_pages, self.flash_pages, strict=True)
        rows = [(number, host, flash / host) for number, (host, flash) in enumerate(spans, start=1)]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
