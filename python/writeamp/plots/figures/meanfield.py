"""Figures of a mean field: valid pages of hot and cold blocks, and WA over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import LineChart, Mark
from writeamp.plots.style import MUTED, WA_LABEL, series_line


def blocks_by_valid_pages(
    blocks: Mapping[str, npt.NDArray[np.float64]],
    *,
    mean_victim_pages: float,
    title: str,
    subtitle: str,
) -> LineChart:
    """Describe the share of hot and of cold blocks over the number of valid pages, 0 to b.

    Args:
        blocks: shares of all blocks by name of the kind (hot, cold), each of shape (b + 1,).
        mean_victim_pages: mean number of valid pages of a victim, drawn as a dashed line.
        title: of the figure.
        subtitle: the drive and its data.
    """
    return LineChart(
        title=title,
        subtitle=f"{subtitle} · dashed: mean valid pages of the victims",
        x_label="valid pages of a block",
        y_label="share of all blocks",
        lines=tuple(
            series_line(
                1 - index,
                list(range(shares.size)),
                shares.tolist(),
                f"{name} blocks, {shares.sum():.4f} in total",
            )
            for index, (name, shares) in enumerate(blocks.items())
        ),
        instants=(Mark(mean_victim_pages, MUTED, "dash"),),
    )


def wa_towards_steady(
    drive_writes: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    title: str,
    subtitle: str,
) -> LineChart:
    """Describe write amplification over host writes per logical page.

    Args:
        drive_writes: times, shape (n,).
        curves: n values of WA, by name of the averaging method.
        title: of the figure.
        subtitle: the drive and its data.
    """
    return LineChart(
        title=title,
        subtitle=subtitle,
        x_label="host writes per logical page",
        y_label=WA_LABEL,
        lines=tuple(
            series_line(at, drive_writes, values, name)
            for at, (name, values) in enumerate(curves.items())
        ),
    )
