"""Drawings of a run: WA over its writes, and its blocks at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.reports.charts import cells, histogram, over_time
from writeamp.reports.report import Block, Drawing, Report, Section
from writeamp.reports.values import number, numbers, table, words


def wa_over_time(report: Report) -> Section | None:
    """Return the line, with the mean of what was counted."""
    found = table(report.more, "over_time")
    x, wa = numbers(found, "x"), numbers(found, "wa")
    if len(x) < 2 or len(x) != len(wa):
        return None
    mean = number(found, "mean")
    warmup = number(found, "warmup") or 0
    drawn = over_time(x, wa, x_words=words(found, "x_words"), mean=mean, warmup=warmup)
    caption = "Each point is the mean of an interval"
    caption += "." if mean is None else "; the dashed line is the mean."
    facts = "" if mean is None else f"The mean is {mean:.4g}."
    command = None
    if report.verb == "simulate":
        command = report.with_options("--series", "--json")
    return Section("over-time", "Over time", (Drawing(drawn, caption, facts),), command=command)


def blocks(report: Report) -> Section | None:
    """Return what blocks hold, and how often each was erased."""
    found = tuple(_drawings(report))
    return Section("blocks", "Blocks at the end", found) if found else None


def _drawings(report: Report) -> Iterator[Block]:
    for key, x_words, caption in (
        (
            "valid_pages",
            "valid pages of a block",
            "What a collection has to move: a block with few valid pages is a cheap victim. Blocks "
            "on the right hold data that was not overwritten.",
        ),
        ("erase_counts", "erases of a block", "How evenly the blocks are worn."),
    ):
        edges, counts = (numbers(table(report.more, key), part) for part in ("edges", "counts"))
        if counts and len(edges) == len(counts) + 1 and max(counts) > 0 and edges[0] < edges[-1]:
            yield Drawing(histogram(edges, counts, x_words, "blocks"), caption)
    wear = table(report.more, "wear")
    erases = numbers(wear, "erases")
    if erases:
        yield Drawing(
            cells(erases, "Map of the erases of each block"), _caption(wear), _facts(wear)
        )


def _caption(wear: Mapping[str, Any]) -> str:
    joined = number(wear, "blocks_of_a_cell") or 1
    of = "A cell is a block" if joined == 1 else f"A cell is the mean of {joined:.0f} blocks"
    return f"Wear map. {of}, in the order of their numbers; its shade says how often it was erased."


def _facts(wear: Mapping[str, Any]) -> str:
    least, mean, most = (number(wear, one) or 0 for one in ("least", "mean", "most"))
    return f"Erases of a block: {least:,.0f} to {most:,.0f}, {mean:,.1f} in the mean."
