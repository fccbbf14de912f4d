"""Transient of a drive before its steady state: the mean field's differential equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.meanfield.parameters import (
    MODES,
    Parameters,
    checked_parameters,
    model_of,
    number,
)
from writeamp.plots.figures.meanfield import wa_towards_steady
from writeamp.plots.spec import LineChart
from writeamp.results.card import Card, Spark
from writeamp.results.drawn import Drawn

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trajectory(Drawn):
    """Transient of a drive before its steady state, at the requested times.

    Attributes:
        parameters: the drive and its data.
        drive_writes: times in host writes per logical page, shape (n,).
        wa: write amplification at each time, shape (n,).
        mean_wa: write amplification of all host writes since the start, shape (n,).
        hot_block_share: share of the blocks that are marked hot at each time, shape (n,).
        m_hot, m_cold: shares of blocks by valid pages at the last time, as in `FixedPoint`.
    """

    parameters: Parameters
    drive_writes: FloatArray
    wa: FloatArray
    mean_wa: FloatArray
    hot_block_share: FloatArray
    m_hot: FloatArray
    m_cold: FloatArray

    def card(self) -> Card:
        """Return the values at the last time as a table, with a small plot of WA over time."""
        drive = self.parameters
        rows = [
            ("WA at the end", f"{self.wa[-1]:.6f} after {self.drive_writes[-1]:.4g} drive writes"),
            ("mean WA since the start", f"{self.mean_wa[-1]:.6f}"),
            ("write mode", MODES[drive.mode]),
            ("drive", f"op = (T-U)/U = {drive.op:.4g}, {drive.pages_per_block} pages per block"),
        ]
        return Card("Mean field over time", rows, spark=Spark(self.drive_writes, self.wa, "WA"))

    def _records(self) -> list[dict[str, Any]]:
        names = ("drive_writes", "wa", "mean_wa", "hot_block_share")
        columns = (getattr(self, name).tolist() for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def figure(self) -> LineChart:
        """Return a chart of write amplification over host writes."""
        drive = self.parameters
        return wa_towards_steady(
            self.drive_writes.tolist(),
            {"at that instant": self.wa.tolist(), "since the start": self.mean_wa.tolist()},
            title=f"Write amplification over time under {MODES[drive.mode]}: mean field",
            subtitle=(
                f"spare factor (T-U)/T = {drive.spare_factor:.4g}, {drive.pages_per_block} pages "
                f"per block, d = {drive.d}"
            ),
        )


def transient(
    *,
    pages_per_block: int,
    d: int,
    hot_fraction: float,
    hot_write_fraction: float,
    drive_writes: Sequence[float] | FloatArray,
    d_swap: int | None = None,
    spare_factor: float | None = None,
    op: float | None = None,
    fill: float | None = None,
    m_hot: npt.ArrayLike | None = None,
    m_cold: npt.ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> Trajectory:
    """Integrate the ODE of the mean field (eq. 1) with implicit steps.

    Args:
        pages_per_block: see `hot_cold`.
        d: see `hot_cold`.
        hot_fraction: see `hot_cold`.
        hot_write_fraction: see `hot_cold`.
        drive_writes: increasing times, in host writes per logical page.
        d_swap: see `hot_cold_swap`; without it, the mode is HCWF.
        spare_factor: see `hot_cold`.
        op: see `hot_cold`.
        fill: see `hot_cold`.
        m_hot: share of the blocks that are hot and have 0, 1, … b valid pages at the start; by
            default the drive has been written once sequentially.
        m_cold: the same for cold blocks; give both `m_hot` and `m_cold`, or neither.
        tolerance: maximum error of a time step, in shares of blocks.

    Returns:
        `Trajectory`: `wa`, `mean_wa` and `hot_block_share` at each of `drive_writes`; `m_hot`,
        `m_cold`.

    Raises:
        WriteampError: a missing or invalid parameter, or `m_hot` and `m_cold` that do not sum to
            1 or do not hold the logical pages of the drive.

    >>> import writeamp as wa
    >>> run = wa.meanfield.transient(pages_per_block=8, spare_factor=0.2, d=4, hot_fraction=0.2,
    ...                              hot_write_fraction=0.8, drive_writes=[0.0, 1.0, 10.0])
    >>> run.wa.shape
    (3,)
    """
    parameters = checked_parameters(
        pages_per_block=pages_per_block,
        d=d,
        d_swap=d_swap,
        hot_fraction=hot_fraction,
        hot_write_fraction=hot_write_fraction,
        op=op,
        fill=fill,
        spare_factor=spare_factor,
    )
    model = model_of(parameters)
    if (m_hot is None) != (m_cold is None):
        raise WriteampError("only one of m_hot and m_cold is given; give both, or neither")
    start = model.filled_once() if m_hot is None else (m_hot, m_cold)
    times = _floats("drive_writes", drive_writes)
    solution = model.transient(
        m_hot=_floats("m_hot", start[0]),
        m_cold=_floats("m_cold", start[1]),
        drive_writes=times,
        tolerance=number("tolerance", tolerance),
    )
    return Trajectory(parameters=parameters, drive_writes=times, **solution)


def _floats(name: str, values: object) -> FloatArray:
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise WriteampError(f"{name} must be a sequence of numbers") from None
    if array.ndim != 1:
        raise WriteampError(f"{name} has {array.ndim} dimensions; it must be a sequence of numbers")
    if not array.size:
        raise WriteampError(f"{name} is empty; it must be a sequence of numbers")
    return array
