"""Keyword arguments of predictions, made by `make generate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from writeamp.units.ratios import RatioLike


class PredictArguments(TypedDict, total=False):
    """Keyword arguments of `predict`."""

    op: RatioLike | None
    """over-provisioning ratio (T-U)/U of a drive with T physical and U logical pages, such as 0.15
    or 15%."""

    fill: RatioLike | None
    """fill U/T = 1/(1+op), the share of the physical pages that the host sees; an alternative to
    op."""

    spare_factor: RatioLike | None
    """spare factor (T-U)/T = op/(1+op), the share of the physical pages that is spare; an
    alternative to op."""

    pages_per_block: int
    """pages of an erase block (default 128)."""

    target_wa: float | None
    """compute the op at which WA has this value; give it instead of op, fill and spare factor."""

    utilization: RatioLike | None
    """share of the logical space that holds data (default: all of it); the models then get the
    effective op ((1 - utilization) + op) / written fraction."""

    written_fraction: RatioLike | None
    """share of the logical space that the host writes; needs utilization, which is its default."""

    models: Sequence[str] | str | None
    """use only this model; may be given several times: uniform-distribution, expected-value, fifo,
    markov, d-choices, coupon-collector. Default: all but coupon-collector, which is known to be
    wrong."""

    d: float
    """for model d-choices: blocks drawn, of which the emptiest is collected; inf is greedy (default
    10)."""

    window: int
    """for model coupon-collector: number of oldest blocks, of which the emptiest is collected
    (default 64)."""

    reserve: int
    """for model coupon-collector: number of blocks that always stay free (default 0)."""

    logical_blocks: float
    """logical size of the drive in blocks; inf is the limit of a large drive (default inf)."""
