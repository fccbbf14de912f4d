"""Comparison of policies over the volumes of a fleet: overall, per volume, and by classes.

All numbers are of the volumes that have a WA under every policy, or they would be of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[np.float64]

# Resamples that are in memory at once have so many numbers.
_MOST_NUMBERS = 10_000_000
_CLASSES = ("low", "middle", "high")


@dataclass(frozen=True)
class Measured:
    """WA of volumes under policies, shape (volumes, policies), and what the volumes write.

    `page_writes` are those of the volume's own trace, once: a short trace that is replayed until it
    is steady counts no more than it writes.
    """

    wa: _Array
    page_writes: _Array

    def overall(self) -> _Array:
        """Return the programs over the host writes of all, for each policy."""
        return _overall(self.wa, self.page_writes)

    def part(self, chosen: npt.NDArray[np.bool_]) -> Measured:
        """Return some of the volumes."""
        return Measured(self.wa[chosen], self.page_writes[chosen])

    def resampled(self, resamples: int, seed: int) -> _Array:
        """Return the overall WA of fleets of volumes drawn anew, shape (resamples, policies).

        All policies have the same draws, so that differences of theirs are of pairs.
        """
        volumes = len(self.page_writes)
        draws = np.random.default_rng([seed, 37])
        at_once = max(1, _MOST_NUMBERS // volumes)
        parts = []
        for first in range(0, resamples, at_once):
            count = min(at_once, resamples - first)
            drawn = draws.multinomial(volumes, np.full(volumes, 1 / volumes), size=count)
            weights = drawn * self.page_writes
            parts.append(weights @ self.wa / weights.sum(axis=1, keepdims=True))
        return np.concatenate(parts)


def compared(
    found: Measured, labels: Sequence[str], baseline: int, *, resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Return a row for each policy, as `--json` has it.

    `overall_wa_ci95` and `saving_ci95` are the middle 95% over fleets drawn anew; `saving` is the
    share of the flash writes that the baseline's volumes would be spared; `median_saving` that of
    the median volume; `wins` counts the volumes where no other policy has a lower WA.
    """
    overall, drawn = found.overall(), found.resampled(resamples, seed)
    savings = 1 - drawn / drawn[:, [baseline]]
    own_savings = 1 - found.wa / found.wa[:, [baseline]]
    wins = (found.wa <= found.wa.min(axis=1, keepdims=True)).sum(axis=0)
    return [
        {
            "manager": label,
            "overall_wa": float(overall[at]),
            "overall_wa_ci95": _middle(drawn[:, at]),
            "median_wa": float(np.median(found.wa[:, at])),
            "quartiles_wa": np.quantile(found.wa[:, at], (0.25, 0.75)).tolist(),
            "saving": float(1 - overall[at] / overall[baseline]),
            "saving_ci95": _middle(savings[:, at]),
            "median_saving": float(np.median(own_savings[:, at])),
            "wins": int(wins[at]),
        }
        for at, label in enumerate(labels)
    ]


def without_volumes(label: str) -> dict[str, Any]:
    """Return the row of a policy where no volume has a WA under all of them."""
    names = ("overall_wa", "overall_wa_ci95", "median_wa", "quartiles_wa", "saving",
             "saving_ci95", "median_saving")  # fmt: skip
    return {"manager": label, **dict.fromkeys(names), "wins": 0}


def classes(
    found: Measured, labels: Sequence[str], facts: dict[str, _Array]
) -> list[dict[str, Any]]:
    """Return thirds of the volumes by each fact, with each policy's overall WA and the best.

    Volumes on the border of two thirds are in the lower one; a third without a volume is left out.
    """
    rows = []
    for name, values in facts.items():
        borders = np.quantile(values, (1 / 3, 2 / 3))
        third = np.searchsorted(borders, values, side="left")
        for number, word in enumerate(_CLASSES):
            inside = third == number
            if not inside.any():
                continue
            part = found.part(inside)
            overall = part.overall()
            wins = (part.wa <= part.wa.min(axis=1, keepdims=True)).sum(axis=0)
            rows.append(
                {
                    "by": name,
                    "class": word,
                    "least": float(values[inside].min()),
                    "greatest": float(values[inside].max()),
                    "volumes": int(inside.sum()),
                    "best": labels[int(np.argmin(overall))],
                    "overall_wa": dict(zip(labels, overall.tolist(), strict=True)),
                    "wins": dict(zip(labels, wins.tolist(), strict=True)),
                }
            )
    return rows


def _overall(wa: _Array, page_writes: _Array) -> _Array:
    return np.asarray(page_writes @ wa / page_writes.sum())


def _middle(values: _Array) -> list[float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return [float(low), float(high)]
