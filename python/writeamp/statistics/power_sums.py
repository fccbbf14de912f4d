"""Sums of powers, which normalize Zipf distributions."""

from __future__ import annotations

import numpy as np

# Number of terms that are added individually; the rest is computed by Euler–Maclaurin.
_SUMMED = 10_000


def sum_of_powers(exponent: float, last: int) -> float:
    """Return Σ k^−exponent for k = 1 … last.

    It is computed by the zeta function for exponents above 1.5, and otherwise term by term, with
    the Euler–Maclaurin formula after 10,000 terms.
    """
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
