"""Statistics of a fleet's WA over its volumes, by policy and by kind of volume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[np.float64]

# Maximum number of resampled values in memory at a time.
_MOST_NUMBERS = 10_000_000
_CLASSES = ("low", "middle", "high")


@dataclass(frozen=True)
class VolumeWa:
    """WA of volumes under policies, shape (volumes, policies), and the volumes' page writes.

    `page_writes` (shape (volumes,)) counts one pass over a volume's trace, even if the run replays
    the trace until WA is steady.
    """

    wa: _Array
    page_writes: _Array

    def overall(self) -> _Array:
        """Return WA under each policy: the mean of the volumes, weighted by their page writes."""
        return _overall(self.wa, self.page_writes)

    def subset(self, chosen: npt.NDArray[np.bool_]) -> VolumeWa:
        """Return WA and page writes of the chosen volumes."""
        return VolumeWa(self.wa[chosen], self.page_writes[chosen])

    def resampled(self, resamples: int, seed: int) -> _Array:
        """Return the overall WA of bootstrapped fleets, shape (resamples, policies).

        A bootstrapped fleet has as many volumes as this one, drawn with replacement. All policies
        use the same draws, so that their differences are paired.
        """
        volumes = len(self.page_writes)
        draws = np.random.default_rng([seed, 37])
        at_once = max(1, _MOST_NUMBERS // volumes)
        batches = []
        for first in range(0, resamples, at_once):
            count = min(at_once, resamples - first)
            drawn = draws.multinomial(volumes, np.full(volumes, 1 / volumes), size=count)
            weights = drawn * self.page_writes
            batches.append(weights @ self.wa / weights.sum(axis=1, keepdims=True))
        return np.concatenate(batches)


def compared(
    volumes: VolumeWa, labels: Sequence[str], baseline: int, *, resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Return a row for each policy with the keys of `--json`.

    `overall_wa_ci95` and `saving_ci95` are the central 95% over bootstrapped fleets. `saving` is
    the share of the baseline's flash writes that the policy avoids, below 0 if it writes more.
    `median_saving` is the median of the volumes' savings. `wins` counts the volumes for which no
    other policy has a lower WA; a tie counts for each of its policies.
    """
    overall, drawn = volumes.overall(), volumes.resampled(resamples, seed)
    savings = 1 - drawn / drawn[:, [baseline]]
    own_savings = 1 - volumes.wa / volumes.wa[:, [baseline]]
    wins = (volumes.wa <= volumes.wa.min(axis=1, keepdims=True)).sum(axis=0)
    return [
        {
            "manager": label,
            "overall_wa": float(overall[index]),
            "overall_wa_ci95": _middle(drawn[:, index]),
            "median_wa": float(np.median(volumes.wa[:, index])),
            "quartiles_wa": np.quantile(volumes.wa[:, index], (0.25, 0.75)).tolist(),
            "saving": float(1 - overall[index] / overall[baseline]),
            "saving_ci95": _middle(savings[:, index]),
            "median_saving": float(np.median(own_savings[:, index])),
            "wins": int(wins[index]),
        }
        for index, label in enumerate(labels)
    ]


def without_volumes(label: str) -> dict[str, Any]:
    """Return the row of a policy for which no volume can be compared."""
    names = ("overall_wa", "overall_wa_ci95", "median_wa", "quartiles_wa", "saving",
             "saving_ci95", "median_saving")  # fmt: skip
    return {"manager": label, **dict.fromkeys(names), "wins": 0}


def classes(
    volumes: VolumeWa, labels: Sequence[str], facts: dict[str, _Array]
) -> list[dict[str, Any]]:
    """Return thirds of the volumes by each fact, with overall WA by policy and the best policy.

    A volume on the border of two thirds belongs to the lower one. Empty thirds are left out.
    """
    rows = []
    for name, values in facts.items():
        borders = np.quantile(values, (1 / 3, 2 / 3))
        thirds = np.searchsorted(borders, values, side="left")
        for number, word in enumerate(_CLASSES):
            inside = thirds == number
            if not inside.any():
                continue
            third_of_volumes = volumes.subset(inside)
            overall = third_of_volumes.overall()
            wins = (third_of_volumes.wa <= third_of_volumes.wa.min(axis=1, keepdims=True)).sum(
                axis=0
            )
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
