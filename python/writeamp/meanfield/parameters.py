"""Parameters of a mean field: the drive, its collection, and its hot and cold data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from writeamp._engine import MeanField as EngineMeanField
from writeamp.errors import WriteampError
from writeamp.fields.domains import Whole, as_ratio, finite, shown
from writeamp.units.ratios import RATIOS, op_of, spare_factor_of

# Write modes by name, with their names in the papers.
MODES = {"hcwf": "HCWF", "hcwf-swap": "HCWF(swap)"}

# Valid numbers of drawn blocks; the engine limits pages per block further, to 1024.
COUNT = Whole(1, 2**32 - 1)


@dataclass(frozen=True)
class Parameters:
    """Checked parameters: the drive, its collection, and its hot and cold data.

    `mode` is "hcwf" or "hcwf-swap"; `d_swap` is None without swaps.
    """

    mode: str
    pages_per_block: int
    op: float
    spare_factor: float
    d: int
    d_swap: int | None
    hot_fraction: float
    hot_write_fraction: float


def model_of(parameters: Parameters) -> EngineMeanField:
    """Return the engine's mean field of checked parameters."""
    return EngineMeanField(
        pages_per_block=parameters.pages_per_block,
        spare_factor=parameters.spare_factor,
        d=parameters.d,
        d_swap=parameters.d_swap,
        hot_fraction=parameters.hot_fraction,
        hot_write_fraction=parameters.hot_write_fraction,
    )


def checked_parameters(
    *,
    pages_per_block: int,
    d: int,
    d_swap: int | None,
    hot_fraction: float,
    hot_write_fraction: float,
    **ratios: float | None,
) -> Parameters:
    """Return checked parameters.

    Raises:
        WriteampError: a missing or invalid parameter.
    """
    op, spare_factor = _ratios(**ratios)
    return Parameters(
        mode="hcwf" if d_swap is None else "hcwf-swap",
        pages_per_block=COUNT.check("pages_per_block", pages_per_block),
        op=op,
        spare_factor=spare_factor,
        d=COUNT.check("d", d),
        d_swap=None if d_swap is None else COUNT.check("d_swap", d_swap),
        hot_fraction=number("hot_fraction", as_ratio("hot_fraction", hot_fraction)),
        hot_write_fraction=number(
            "hot_write_fraction", as_ratio("hot_write_fraction", hot_write_fraction)
        ),
    )


def _ratios(
    *, op: float | None, fill: float | None, spare_factor: float | None
) -> tuple[float, float]:
    """Return op and spare factor; a given op or spare factor is returned unchanged."""
    spare_factor = as_ratio("spare_factor", spare_factor)
    given_op = op_of(op=op, fill=fill, spare_factor=spare_factor)
    if given_op is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    return float(given_op), float(
        spare_factor_of(given_op) if spare_factor is None else spare_factor
    )


def number(name: str, value: object) -> float:
    """Return a number as float, or raise a `WriteampError`."""
    if not isinstance(value, float) and math.isnan(finite(value)):
        raise WriteampError(f"{name} is {shown(value)}; it must be a number")
    return float(value)  # type: ignore[arg-type]
