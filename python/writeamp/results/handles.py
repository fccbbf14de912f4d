"""Counts by placement handle: rows of results, and their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from writeamp.results.card import Card, without_empty_columns
from writeamp.text import printable
from writeamp.units.byte_sizes import binary_bytes

# Name of the row of reclaim units that handles share.
SHARED = "shared"
_BYTES = ("host_bytes", "media_bytes", "moved_in", "moved_out")
# Number of hints that a row of the table names.
_NAMED_HINTS = 2


def handle_row(
    handle: int | None, pages: tuple[int, int], moved: tuple[int, int], page_bytes: int
) -> dict[str, Any]:
    """Return the row of a handle, in bytes.

    Keys: `handle`, `host_bytes`, `media_bytes`, `wa` (their ratio, or None), `moved_in` and
    `moved_out`.

    Args:
        handle: its number; None for reclaim units that handles share.
        pages: pages that the host wrote, and flash pages programmed for their data.
        moved: pages that collection moved into and out of its reclaim units.
        page_bytes: bytes of a page.
    """
    host, media = pages
    moved_in, moved_out = moved
    return {
        "handle": handle,
        "host_bytes": host * page_bytes,
        "media_bytes": media * page_bytes,
        "wa": media / host if host else None,
        "moved_in": moved_in * page_bytes,
        "moved_out": moved_out * page_bytes,
    }


def mean_rows(of_runs: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the mean rows of several runs of one load.

    A run without a handle's row counts as 0. `wa` is the ratio of the mean bytes.
    """
    used = {row["handle"] for rows in of_runs for row in rows}
    means = []
    for handle in sorted(used, key=lambda handle: (handle is None, handle)):
        rows = [row for rows in of_runs for row in rows if row["handle"] == handle]
        mean = {name: sum(row[name] for row in rows) / len(of_runs) for name in _BYTES}
        wa = mean["media_bytes"] / mean["host_bytes"] if mean["host_bytes"] else None
        means.append({**rows[0], **mean, "wa": wa})
    return means


def table_of_handles(rows: Sequence[dict[str, Any]], title: str = "Placement handles") -> Card:
    """Return the table of the rows; their `hints` are shown if there are any."""
    cells = [
        (
            SHARED if row["handle"] is None else str(row["handle"]),
            _first_names(row.get("hints", [])),
            *(binary_bytes(round(row[name])) for name in ("host_bytes", "media_bytes")),
            "–" if row["wa"] is None else f"{row['wa']:.4f}",
            *(binary_bytes(round(row[name])) for name in ("moved_in", "moved_out")),
        )
        for row in rows
    ]
    columns = ("handle", "hints", ">host", ">media", ">WA", ">moved in", ">moved out")
    return without_empty_columns(Card(title, cells, columns))


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_HINTS
    shown = ", ".join(map(printable, names[:_NAMED_HINTS]))
    return f"{shown} and {more} more" if more > 0 else shown
