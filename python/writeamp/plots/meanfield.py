"""The figure of how full a drive's hot and cold blocks are at the fixed point of a mean field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.plots.spec import Line, LineChart, Mark
from writeamp.plots.style import MUTED, series_color, series_dash

if TYPE_CHECKING:
    from writeamp.meanfield import FixedPoint

NAMES = {"hcwf": "HCWF", "hcwf-swap": "HCWF(swap)"}


def blocks_by_valid_pages(point: FixedPoint) -> LineChart:
    """Describe the share of all blocks that is hot or cold and has 0, 1, … b valid pages."""
    drive = point.parameters
    valid_pages = range(drive.pages_per_block + 1)
    mean_victim = sum(pages * share for pages, share in zip(valid_pages, point.p, strict=True))
    kinds = (("hot", point.m_hot), ("cold", point.m_cold))
    draws = f"d = {drive.d}" + ("" if drive.d_swap is None else f", d* = {drive.d_swap}")
    return LineChart(
        title=f"Valid pages of hot and cold blocks under {NAMES[drive.mode]}: WA {point.wa:.4f}",
        subtitle=(
            f"spare factor (T-U)/T = {drive.spare_factor:.4g}, {drive.pages_per_block} pages per "
            f"block, {draws}, {drive.hot_fraction:.4g} of the pages get "
            f"{drive.hot_write_fraction:.4g} of the writes · dashed: mean victim of d blocks"
        ),
        x_label="valid pages of a block",
        y_label="share of all blocks",
        lines=tuple(
            Line(
                list(valid_pages),
                blocks.tolist(),
                series_color(1 - index),
                dash=series_dash(index),
                label=f"{name} blocks, {blocks.sum():.4f} in all",
            )
            for index, (name, blocks) in enumerate(kinds)
        ),
        instants=(Mark(float(mean_victim), MUTED, "dash"),),
    )
