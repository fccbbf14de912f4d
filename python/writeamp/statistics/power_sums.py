"""Sums of powers, which normalize zipf distributions."""

from __future__ import annotations

import numpy as np

# Terms that are added up one by one.
_SUMMED = 10_000


def sum_of_powers(exponent: float, last: int) -> float:
    """Return Σ k^−exponent for k = 1 … last, by Euler–Maclaurin beyond the first terms."""
    if exponent > 1.5:
        from scipy.special import zeta  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

        return float(zeta(exponent) - zeta(exponent, last + 1)) if last else 0.0
    head = np.arange(1.0, min(last, _SUMMED) + 1) ** -exponent
    if last <= _SUMMED:
        return float(head.sum())
    power = 1 - exponent
    ratio = np.log(last / _SUMMED)
    integral = ratio if power == 0 else _SUMMED**power * np.expm1(power * ratio) / power
    ends = (float(last) ** -exponent - float(_SUMMED) ** -exponent) / 2
    return float(head.sum() + integral + ends)
