"""The figure of a comparison of block managers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.plots.spec import BarChart
from writeamp.plots.wa_by_policy import PolicyResult, wa_by_policy

if TYPE_CHECKING:
    from writeamp.comparison import Comparison, Row


def wa_by_manager(found: Comparison) -> BarChart:
    """Describe write amplification of each manager, by cause, the least on top."""
    device, first = found.device, found.rows[0].results[0]
    rows = [
        PolicyResult(
            _label(row),
            row.wa,
            {cause: round(pages) for cause, pages in row.causes.items()},
            *row.ci,
        )
        for row in sorted(found.rows, key=lambda row: row.wa)
    ]
    return wa_by_policy(
        rows,
        title=f"Write amplification by block manager: {first.plan.load_name}",
        subtitle=(
            f"op = (T-U)/U = {device.op:.4g} · {device.name}, {device.layout} · "
            f"{len(found.rows[0].results)} run(s) each"
        ),
    )


def _label(row: Row) -> str:
    notes = [f"told {row.told}"] if row.told else []
    notes += [] if row.steady else ["not steady"]
    return row.manager + (f" ({', '.join(notes)})" if notes else "")
