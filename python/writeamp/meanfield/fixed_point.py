"""Steady state of a drive of many blocks: the fixed point of its mean field."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.meanfield.parameters import (
    COUNT,
    MODES,
    Parameters,
    checked_parameters,
    model_of,
)
from writeamp.plots.figures.meanfield import blocks_by_valid_pages
from writeamp.plots.spec import LineChart
from writeamp.results.card import Card, Spark
from writeamp.results.drawn import Drawn

FloatArray: TypeAlias = npt.NDArray[np.float64]

# A fixed point beyond any of these limits is ill-conditioned; docs/meanfield.md has the reasons for
# the limits.
MOST_RESIDUAL = 1e-12
MOST_RELATIVE_ERROR = 1e-6
MOST_RELAXATION_DRIVE_WRITES = 100.0
MOST_RELATIVE_SPREAD = 0.01
SPREAD_BLOCKS = 10_000


@dataclass(frozen=True, eq=False)
class FixedPoint(Drawn):
    """Steady state of a drive.

    Attributes:
        parameters: the drive and its data.
        wa: write amplification (eq. 5).
        residual: largest element of the drift F (eq. 1) at this point, computed independently of
            the solver from the stationary probabilities of the write frontiers (eq. 4).
        wa_error_bound: bound on the absolute error of `wa`: the residual or its rounding error,
            times the sensitivity of `wa`; infinite if unknown.
        ill_conditioned: True if `wa` is not reliable; `why` has the reasons as sentences, or "".
        relaxation_drive_writes: host writes per logical page in which a surplus of hot blocks
            falls to 1/e of its size.
        wa_spread_10000_blocks: standard deviation of the write amplification of a drive of 10,000
            blocks, caused by single blocks that swaps change between hot and cold; 0 without swaps.
        elapsed_s: wall time of the solution in seconds; `check_elapsed_s` is the wall time of the
            check.
        hot_block_share: share of the blocks that are marked hot.
        share_gc_d: share of the collections that draw d of all blocks (p_GC,d).
        share_gc_swap: share of the collections that draw d* blocks of one kind, for a swap:
            `share_gc_swap_hot` + `share_gc_swap_cold`.
        m_hot, m_cold: shares of all blocks that are hot (or cold) and have 0, 1, … b valid pages;
            arrays of length b + 1. Both arrays together sum to 1.
        p: distribution of the valid pages of a victim among d of all blocks; length b + 1.
        q_hot, q_cold: distribution of the valid pages of a victim among d* hot or cold blocks; 0
            without swaps.
    """

    parameters: Parameters
    wa: float
    residual: float
    wa_error_bound: float
    ill_conditioned: bool
    why: str
    relaxation_drive_writes: float
    wa_spread_10000_blocks: float
    elapsed_s: float = field(compare=False)
    check_elapsed_s: float = field(compare=False)
    hot_block_share: float
    share_gc_d: float
    share_gc_swap: float
    share_gc_swap_hot: float
    share_gc_swap_cold: float
    m_hot: FloatArray
    m_cold: FloatArray
    p: FloatArray
    q_hot: FloatArray
    q_cold: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types, the parameters first; None means infinite or NaN."""
        values = asdict(self)
        document: dict[str, Any] = values.pop("parameters") | values
        for name, value in document.items():
            if isinstance(value, np.ndarray):
                document[name] = value.tolist()
            elif isinstance(value, float) and not math.isfinite(value):
                document[name] = None
        return document

    def card(self) -> Card:
        """Return the main values as a table, with a small plot of hot blocks by valid pages."""
        drive = self.parameters
        rows = [
            ("write mode", MODES[drive.mode]),
            ("pages per block", str(drive.pages_per_block)),
            ("spare factor (T-U)/T", f"{drive.spare_factor:.6g}"),
            ("op (T-U)/U", f"{drive.op:.6g}"),
            (
                "share of hot pages, share of hot writes",
                f"{drive.hot_fraction:.6g}, {drive.hot_write_fraction:.6g}",
            ),
            ("WA", f"{self.wa:.6f}"),
            ("bound on the error of WA", f"{self.wa_error_bound:.2g}"),
            ("residual of the drift", f"{self.residual:.2g}"),
            ("ill-conditioned", "yes" if self.ill_conditioned else "no"),
            ("hot blocks", f"{self.hot_block_share:.6f} of all blocks"),
            (f"collections from d = {drive.d} blocks", f"{self.share_gc_d:.6f} of all collections"),
        ]
        if drive.d_swap is not None:
            for kind, share in (("hot", self.share_gc_swap_hot), ("cold", self.share_gc_swap_cold)):
                name = f"collections from d* = {drive.d_swap} {kind} blocks"
                rows.append((name, f"{share:.6f} of all collections"))
        took = (self.elapsed_s, self.check_elapsed_s)
        rows.append(
            (
                "time to solve, time to check",
                "{:.2f} ms, {:.2f} ms".format(*(1e3 * s for s in took)),
            )
        )
        pages = np.arange(self.m_hot.size)
        spark = Spark(pages, self.m_hot, "share of blocks that are hot, by valid pages")
        warnings = [f"ill-conditioned: {self.why}"] if self.ill_conditioned else []
        return Card("Mean field", rows, warnings=warnings, spark=spark)

    def figure(self) -> LineChart:
        """Return a chart of the distributions of valid pages of hot and cold blocks."""
        drive = self.parameters
        draws = f"d = {drive.d}" + ("" if drive.d_swap is None else f", d* = {drive.d_swap}")
        return blocks_by_valid_pages(
            {"hot": self.m_hot, "cold": self.m_cold},
            mean_victim_pages=float(np.arange(self.p.size) @ self.p),
            title=f"Valid pages of hot and cold blocks under {MODES[drive.mode]}: WA {self.wa:.4f}",
            subtitle=(
                f"spare factor (T-U)/T = {drive.spare_factor:.4g}, {drive.pages_per_block} pages "
                f"per block, {draws}, {drive.hot_fraction:.4g} of the pages get "
                f"{drive.hot_write_fraction:.4g} of the writes"
            ),
        )


def hot_cold(
    *,
    pages_per_block: int,
    d: int,
    hot_fraction: float,
    hot_write_fraction: float,
    spare_factor: float | None = None,
    op: float | None = None,
    fill: float | None = None,
) -> FixedPoint:
    """Return the fixed point of HCWF: hot and cold pages in separate blocks.

    Args:
        pages_per_block: pages of an erase block (b), 1 to 1024.
        d: blocks drawn; the victim is the emptiest.
        hot_fraction: share of the logical pages that are hot (f), above 0 and below 1.
        hot_write_fraction: share of the host writes that go to hot pages (r), above 0 and below 1.
        spare_factor: (T−U)/T (S_f), above 0 and below 1; or give `op` or `fill`.
        op: (T−U)/U, above 0.
        fill: U/T, above 0 and below 1.

    Returns:
        `FixedPoint`: `wa`, `hot_block_share`, `m_hot` and `m_cold` (shares of blocks by valid
        pages), `ill_conditioned`.

    Raises:
        WriteampError: a missing or invalid parameter, or no fixed point was found.

    >>> import writeamp as wa
    >>> point = wa.meanfield.hot_cold(pages_per_block=32, spare_factor=0.12, d=10,
    ...                               hot_fraction=0.2, hot_write_fraction=0.8)
    >>> round(point.wa, 5), point.ill_conditioned
    (3.21824, False)
    """
    return _fixed_point(
        checked_parameters(
            pages_per_block=pages_per_block,
            d=d,
            d_swap=None,
            hot_fraction=hot_fraction,
            hot_write_fraction=hot_write_fraction,
            op=op,
            fill=fill,
            spare_factor=spare_factor,
        )
    )


def hot_cold_swap(
    *,
    pages_per_block: int,
    d: int,
    d_swap: int,
    hot_fraction: float,
    hot_write_fraction: float,
    spare_factor: float | None = None,
    op: float | None = None,
    fill: float | None = None,
) -> FixedPoint:
    """Return the fixed point of HCWF(swap): collection exchanges hot and cold blocks.

    Args:
        pages_per_block: see `hot_cold`.
        d: blocks drawn for the first victim.
        d_swap: blocks of one kind drawn for the second victim of a swap (d*).
        hot_fraction: see `hot_cold`.
        hot_write_fraction: see `hot_cold`.
        spare_factor: see `hot_cold`.
        op: see `hot_cold`.
        fill: see `hot_cold`.

    Returns:
        `FixedPoint`: `wa`, `hot_block_share`, `share_gc_swap`, `m_hot` and `m_cold` (shares of
        blocks by valid pages), `ill_conditioned`.

    Raises:
        WriteampError: as in `hot_cold`.

    >>> import writeamp as wa
    >>> point = wa.meanfield.hot_cold_swap(pages_per_block=32, spare_factor=0.12, d=50, d_swap=8,
    ...                                    hot_fraction=0.2, hot_write_fraction=0.77)
    >>> round(point.wa, 5)
    3.37248
    """
    return _fixed_point(
        checked_parameters(
            pages_per_block=pages_per_block,
            d=d,
            d_swap=COUNT.check("d_swap", d_swap),
            hot_fraction=hot_fraction,
            hot_write_fraction=hot_write_fraction,
            op=op,
            fill=fill,
            spare_factor=spare_factor,
        )
    )


def _fixed_point(parameters: Parameters) -> FixedPoint:
    model = model_of(parameters)
    begun = perf_counter()
    m_hot, m_cold = model.fixed_point()
    found_at = perf_counter()
    checked = model.check(m_hot, m_cold)
    checked_at = perf_counter()
    # Without swaps, blocks stay hot or cold, so the spread is 0, and the computed value is a
    # rounding error.
    of_one_block = checked.pop("wa_spread")
    spread = 0.0 if parameters.d_swap is None else of_one_block / math.sqrt(SPREAD_BLOCKS)
    checked["wa_error_bound"] = max(
        checked["wa_error_bound"], checked["wa"] * sys.float_info.epsilon
    )
    why = _why_ill_conditioned(spread=spread, **checked)
    return FixedPoint(
        parameters=parameters,
        ill_conditioned=bool(why),
        why=why,
        wa_spread_10000_blocks=spread,
        elapsed_s=found_at - begun,
        check_elapsed_s=checked_at - found_at,
        hot_block_share=float(m_hot.sum()),
        share_gc_swap=checked["share_gc_swap_hot"] + checked["share_gc_swap_cold"],
        m_hot=m_hot,
        m_cold=m_cold,
        **checked,
    )


def _why_ill_conditioned(
    *,
    wa: float,
    residual: float,
    wa_error_bound: float,
    relaxation_drive_writes: float,
    spread: float,
    **_others: object,
) -> str:
    """Return a sentence for each reason why `wa` is not reliable; NaN is a reason."""
    sentences = []
    if not residual <= MOST_RESIDUAL:
        sentences.append(f"The residual of the drift, {residual:.2g}, is above {MOST_RESIDUAL:g}.")
    if not wa_error_bound <= MOST_RELATIVE_ERROR * wa:
        sentences.append(
            f"The bound on the error of wa, {wa_error_bound:.2g}, is above "
            f"{MOST_RELATIVE_ERROR:g} of wa, because of rounding in the drift."
        )
    if not 0 <= relaxation_drive_writes <= MOST_RELAXATION_DRIVE_WRITES:
        sentences.append(
            "The number of hot blocks changes very slowly: a surplus falls to 1/e of its size in "
            f"{relaxation_drive_writes:.2g} drive writes, so wa depends on the start until then."
        )
    if not spread <= MOST_RELATIVE_SPREAD * wa:
        sentences.append(
            f"In a drive of {SPREAD_BLOCKS:,} blocks, wa varies by {spread:.2g} (one standard "
            "deviation), because swaps change single blocks between hot and cold."
        )
    return " ".join(sentences)
