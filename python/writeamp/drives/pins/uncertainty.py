"""Uncertainty of the counts of a fitted mixture, from that of its bells.

The count of a class is n·π̂. Where both it and the true count N are estimated from the same
durations, Var(n·π̂ − N) = n²·Var(π̂) − n·π(1−π), with Var(π̂) from the Fisher information of all
parameters together, which is summed over the bins from numerical derivatives.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.classes import CLASSES, Reading, Shares
from writeamp.drives.pins.mixture import Mixture, coarser, density

_STEP = 1e-4
# The information is singular: shares have one degree of freedom less than bells.
_SINGULAR = 1e-9
_MOST_ERROR = 2.0


def class_errors(
    mixture: Mixture, reading: Reading, durations: Durations, of_class: Shares
) -> dict[str, float]:
    """Return the standard error of the count of each class among the durations of the fit.

    It is no more than a multiple of the durations that may be of another class: of a bell of few
    durations that stands alone, the information says nothing.

    Args:
        mixture: the bells.
        reading: the class of each.
        durations: n bins.
        of_class: the probability of each class for each bin, shape (n,) each.
    """
    information = _information(mixture, coarser(durations))
    covariance = np.linalg.pinv(information, rcond=_SINGULAR, hermitian=True)
    total = durations.total
    found = {}
    for name in CLASSES:
        is_of = np.array([of_bell == name for of_bell in reading.of_bell], float)
        share = float(is_of @ mixture.share)
        gradient = np.zeros(len(covariance))
        gradient[: is_of.size] = mixture.share * (is_of - share)
        variance = total**2 * float(gradient @ covariance @ gradient)
        found[name] = min(
            float(np.sqrt(max(0.0, variance - total * share * (1 - share)))),
            _MOST_ERROR * float(durations.count @ np.minimum(of_class[name], 1 - of_class[name])),
        )
    return found


def _information(mixture: Mixture, binned: Durations) -> Floats:
    """Return the Fisher information, shape (3k, 3k).

    The parameters are the logarithms of the shares, the means in deviations, and the logarithms of
    the deviations, so that all are of one size.
    """
    scores = []
    for move in (_share_moved, _mean_moved, _deviation_moved):
        for bell in range(mixture.mean_us.size):
            step = np.zeros(mixture.mean_us.size)
            step[bell] = _STEP
            up, down = (density(move(mixture, sign * step), binned) for sign in (1, -1))
            scores.append(np.log(up / down) / (2 * _STEP))
    score = np.stack(scores)
    found: Floats = (score * binned.count) @ score.T
    return found


def _share_moved(mixture: Mixture, step: Floats) -> Mixture:
    share = mixture.share * np.exp(step)
    return replace(mixture, share=share * (mixture.share.sum() / share.sum()))


def _mean_moved(mixture: Mixture, step: Floats) -> Mixture:
    return replace(mixture, mean_us=mixture.mean_us + step * mixture.sd_us)


def _deviation_moved(mixture: Mixture, step: Floats) -> Mixture:
    return replace(mixture, sd_us=mixture.sd_us * np.exp(step))
