"""Differences of every pair of rows, divided among causes that were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from writeamp.answers.case import Found
from writeamp.answers.chain import Chain, Share, noise
from writeamp.answers.row import WayRow

# Shares of one cause in two chains that are one run differ by rounding only.
_NOTHING = 1e-12
# Of WA: rows that differ by less than this agree, though they may be computed without noise.
_ALIKE = 1e-3


@dataclass(frozen=True)
class RowDifference:
    """Difference between two rows in WA, the second less the first, and its causes.

    The shares and `unexplained` add up to `wa_difference`. Rows that `agree` differ by no more than
    `noise`, the half width of the interval of their difference.
    """

    between: tuple[str, str]
    wa_difference: float
    causes: tuple[Share, ...]
    unexplained: float
    noise: float
    agree: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        return {
            "between": list(self.between),
            "wa_difference": self.wa_difference,
            "causes": [{"cause": one.cause, "share": one.share} for one in self.causes],
            "unexplained": self.unexplained,
            "noise": self.noise,
            "agree": self.agree,
        }


def differences_of(
    rows: Sequence[WayRow], chains: Mapping[str, Chain]
) -> tuple[RowDifference, ...]:
    """Return the difference of each pair of rows that answer."""
    answered = [one for one in rows if one.answers]
    return tuple(_between(a, b, chains) for a, b in combinations(answered, 2))


def agree(a: WayRow, b: WayRow) -> bool:
    """Return whether two rows differ by no more than noise."""
    return abs(b.wa - a.wa) <= _noise(a, b)


def _noise(a: WayRow, b: WayRow) -> float:
    least = _ALIKE * min(a.wa, b.wa)
    return max(least, noise(Found(a.wa, a.bounds), Found(b.wa, b.bounds)))


def _between(a: WayRow, b: WayRow, chains: Mapping[str, Chain]) -> RowDifference:
    difference, wide = b.wa - a.wa, _noise(a, b)
    shares: dict[str, float] = {}
    if abs(difference) > wide:
        for sign, row in ((-1, a), (1, b)):
            for one in chains[row.way].shares if row.way in chains else ():
                shares[one.cause] = shares.get(one.cause, 0.0) + sign * one.share
    causes = tuple(Share(cause, share) for cause, share in shares.items() if abs(share) > _NOTHING)
    return RowDifference(
        between=(a.way, b.way),
        wa_difference=difference,
        causes=causes,
        unexplained=difference - sum(one.share for one in causes),
        noise=wide,
        agree=abs(difference) <= wide,
    )
