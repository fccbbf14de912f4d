"""Figure of page lifetimes that a block manager has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import panels_apart, series_line

# Ages with a smaller share of the pages are not drawn, because their forecast is mostly the prior
# (the assumption before any data).
_FEWEST = 1e-4
# Ages below this, in drive writes, are not drawn, because hardly any pages are that young.
_YOUNGEST = 1e-3


def lives_by_age(
    lives: pl.DataFrame, logical_pages: int, *, title: str, subtitle: str
) -> PanelChart:
    """Describe remaining lifetime and share of pages over page age, by usual rewrite interval.

    Args:
        lives: as `Result.lives`; rows with the same usual interval are merged.
        logical_pages: number of logical pages of the drive.
        title: of the figure.
        subtitle: the run.

    Raises:
        WriteampError: the manager does not learn lifetimes.
    """
    if lives.is_empty():
        raise WriteampError(
            "the block manager does not learn page lifetimes; use one that does: wolf-interval"
        )
    # The table's bins are half octaves of unequal widths, so pairs of bins are merged to octaves.
    octave = pl.col("age_pages").log(2).floor()
    weight = pl.col("seen") + pl.col("overwritten")
    by_age = (
        lives.with_columns((2 ** (octave + 0.5) / logical_pages).alias("age"))
        .filter(pl.col("age") > _YOUNGEST)
        .group_by("usual_pages", "age")
        .agg(
            ((pl.col("rest_pages").log() * weight).sum() / weight.sum()).exp() / logical_pages,
            (pl.col("seen").sum() / lives["seen"].sum()).alias("share"),
        )
        .filter(pl.col("share") >= _FEWEST)
        .sort("usual_pages", "age", descending=[True, False])
    )
    label = "age (drive writes since the page was written)"
    over_age = partial(Panel, x_label=label, x_log=True)
    panels = (
        over_age(
            "Expected remaining lifetime of pages",
            tuple(_lines(by_age, "rest_pages", logical_pages)),
            y_label="remaining lifetime (drive writes)",
            y_log=True,
        ),
        over_age(
            "Share of pages by age, in octaves",
            tuple(_lines(by_age, "share", logical_pages)),
            y_label="share of the pages",
        ),
    )
    return panels_apart(title, subtitle, panels, columns=1)


def _lines(by_age: pl.DataFrame, column: str, logical_pages: int) -> Iterator[Line]:
    groups = by_age.group_by("usual_pages", maintain_order=True)
    for index, ((usual_pages,), rows) in enumerate(groups):
        usual = float(str(usual_pages)) / logical_pages
        label = f"rewritten every {usual:.2g} drive writes" if usual else "not rewritten yet"
        x, y = rows["age"].to_list(), rows[column].to_list()
        yield series_line(index, x, y, label, marker="circle")
