"""Mixture of distributions (components) that is fitted to the durations of a capture.

Each kind of operation (a read, a program of a lower page, an erase) takes a time that varies around
its mean. The mixture is fitted to binned durations by expectation maximisation; the number of
components is that with the lowest Bayesian information criterion (Schwarz 1978).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr  # type: ignore[import-untyped]

from writeamp.drives.pins.capture import Durations, Floats

# Bins narrower than this share of a duration are joined, as they add no information about wider
# components.
_BIN_SHARE = 0.003
_PEAK_BIN_SHARE = 0.02
# Least prominence of a significant peak in the square root of the counts. The square root of a
# count has a standard deviation of 0.5, so this is five standard deviations.
_PROMINENCE = 2.5
_MOST_BELLS = 12
# With fewer pulses per component, the Bayesian information criterion is unreliable, so no component
# is added.
_PULSES_PER_COMPONENT = 10
_MOST_STEPS = 400
# The fit has converged if a step increases the log-likelihood by less than this, in nats.
_STILL_NATS = 0.02
_PARAMETERS_A_BELL = 3
_LEAST_DENSITY = 1e-300
_FIRST_BACKGROUND = 1e-4
_LEAST_BACKGROUND = 1e-9
# Initial relative width of a component that is searched near a known time.
_FIRST_SPREAD = 0.04
# Least width of a component in bins, since a constant duration falls into one or two bins.
_NARROWEST_BINS = 0.3


def _normal(z: Floats) -> Floats:
    probability: Floats = ndtr(z)
    return probability


def _bounded(z: Floats) -> Floats:
    """Return the distribution function of the standardised sum of four uniforms, within ±2√3."""
    u = np.clip(2 + z / np.sqrt(3), 0, 4)
    terms = [sign * np.maximum(u - step, 0) ** 4 for step, sign in enumerate((1, -4, 6, -4))]
    probability: Floats = np.clip(sum(terms) / 24, 0, 1)
    return probability


# Distribution functions of components by the name of their shape. Durations of programs are
# bounded, as a program consists of a limited number of programming pulses.
SHAPES: dict[str, Callable[[Floats], Floats]] = {"normal": _normal, "bounded": _bounded}


@dataclass(frozen=True)
class DurationMixture:
    """Mixture components in ascending order of means, shape (k,) each, and a background.

    Attributes:
        shape: name of the components' distribution in `SHAPES`.
        mean_us: means of the components, in µs.
        sd_us: standard deviations of the components, in µs.
        share: shares of the components among all durations.
        background: share of durations that no component explains.
        bic: Bayesian information criterion (lower is better), in units of half a nat.
    """

    shape: str
    mean_us: Floats
    sd_us: Floats
    share: Floats
    background: float
    bic: float

    def responsibilities(self, low_us: Floats, high_us: Floats) -> Floats:
        """Return the probability of each component for each bin, shape (n, k); rows add up to 1.

        Durations that no component explains are assigned to the component with the least distance
        in standard deviations.
        """
        parts = _masses(self, low_us, high_us)
        sums = parts.sum(axis=1)
        middle_us = (low_us + high_us) / 2
        away = np.abs(middle_us[:, None] - self.mean_us) / self.sd_us
        nearest = np.zeros_like(parts)
        nearest[np.arange(middle_us.size), away.argmin(axis=1)] = 1
        explained = sums > _LEAST_DENSITY
        probabilities: Floats = np.where(
            explained[:, None], parts / np.where(explained, sums, 1)[:, None], nearest
        )
        return probabilities


def unexplained(mixture: DurationMixture, durations: Durations) -> Floats:
    """Return the probability for each bin that no component explains its durations, shape (n,)."""
    binned = coarser(durations)
    share = mixture.background * _even(binned) / density(mixture, binned)
    starts = np.searchsorted(binned.low_us, durations.low_us, side="right") - 1
    unexplained_share: Floats = np.minimum(share[starts], 1.0)
    return unexplained_share


def fit(durations: Durations) -> DurationMixture:
    """Fit a mixture to the durations, of which there must be at least one."""
    binned = coarser(durations)
    fitted = [_grown(_seeded(binned, shape), binned) for shape in SHAPES]
    return _ordered(min(fitted, key=lambda mixture: mixture.bic))


def with_component(
    mixture: DurationMixture, durations: Durations, mean_us: float
) -> DurationMixture:
    """Fit the mixture again with an additional component, whose mean starts at `mean_us`."""
    binned = coarser(durations)
    near = np.abs(np.log(binned.middle_us / mean_us)) < _FIRST_SPREAD
    share = max(float(binned.count[near].sum()), 1.0) / binned.total / 2
    first = DurationMixture(
        mixture.shape,
        np.append(mixture.mean_us, mean_us),
        np.append(mixture.sd_us, _FIRST_SPREAD * mean_us),
        np.append(mixture.share * (1 - share), share),
        max(mixture.background, _LEAST_BACKGROUND),
        np.inf,
    )
    return _ordered(_converged(first, binned))


def likelihood(mixture: DurationMixture, durations: Durations) -> float:
    """Return the log-likelihood of the durations, in nats."""
    binned = coarser(durations)
    return float(binned.count.astype(float) @ np.log(density(mixture, binned)))


def _ordered(mixture: DurationMixture) -> DurationMixture:
    order = np.argsort(mixture.mean_us)
    return replace(
        mixture,
        mean_us=mixture.mean_us[order],
        sd_us=mixture.sd_us[order],
        share=mixture.share[order],
    )


def coarser(durations: Durations) -> Durations:
    """Join bins that are narrower than `_BIN_SHARE` of their durations, for a faster fit."""
    place = np.floor(np.log(durations.middle_us) / _BIN_SHARE)
    starts = np.flatnonzero(np.diff(place, prepend=-np.inf))
    ends = np.append(starts[1:], place.size) - 1
    return Durations(
        durations.low_us[starts],
        durations.high_us[ends],
        np.add.reduceat(durations.count, starts),
    )


def _seeded(binned: Durations, shape: str) -> DurationMixture:
    """Return a fitted mixture with a component for each significant peak, but at least one."""
    from scipy.signal import find_peaks  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

    count, low_us = _on_log_grid(binned, binned.count.astype(float))
    smooth = np.convolve(count, [0.25, 0.5, 0.25], "same")
    peaks, _ = find_peaks(np.sqrt(smooth), prominence=_PROMINENCE)
    if peaks.size == 0:
        peaks = np.array([int(smooth.argmax())])
    peaks = peaks[np.argsort(smooth[peaks])[::-1][:_MOST_BELLS]]
    mean_us = low_us[peaks] * (1 + _PEAK_BIN_SHARE / 2)
    share = smooth[peaks] / smooth[peaks].sum() * (1 - _FIRST_BACKGROUND)
    sd_us = 2 * _PEAK_BIN_SHARE * mean_us
    first = DurationMixture(shape, mean_us, sd_us, share, _FIRST_BACKGROUND, np.inf)
    return _converged(first, binned)


def _grown(mixture: DurationMixture, binned: Durations) -> DurationMixture:
    """Add components where the mixture explains least, as long as this lowers the BIC."""
    most = min(_MOST_BELLS, binned.total // _PULSES_PER_COMPONENT)
    while mixture.mean_us.size < most:
        grown = _converged(_with_another(mixture, binned), binned)
        if grown.bic >= mixture.bic:
            break
        mixture = grown
    return mixture


def _with_another(mixture: DurationMixture, binned: Durations) -> DurationMixture:
    total = binned.total
    expected = total * _masses(mixture, binned.low_us, binned.high_us).sum(axis=1)
    missing, low_us = _on_log_grid(binned, binned.count.astype(float) - expected)
    spread, _ = _on_log_grid(binned, expected)
    best: tuple[float, float, float, float] = (0.0, float(low_us[0]), _PEAK_BIN_SHARE, 1.0)
    for width in (1, 3, 7, 15):
        window = np.ones(width)
        excess = np.convolve(missing, window, "same")
        score = excess / np.sqrt(np.convolve(spread, window, "same") + 1)
        at = int(score.argmax())
        if score[at] > best[0]:
            middle_us = float(low_us[at] * (1 + _PEAK_BIN_SHARE / 2))
            best = (float(score[at]), middle_us, width * _PEAK_BIN_SHARE / 3, float(excess[at]))
    _, mean_us, relative_sd, excess_count = best
    share = min(max(excess_count, 1.0) / total, 0.5)
    return DurationMixture(
        mixture.shape,
        np.append(mixture.mean_us, mean_us),
        np.append(mixture.sd_us, mean_us * relative_sd),
        np.append(mixture.share * (1 - share), share * (1 - mixture.background)),
        mixture.background,
        np.inf,
    )


def _on_log_grid(binned: Durations, values: Floats) -> tuple[Floats, Floats]:
    """Sum values into bins that are 2% wide; return the sums and the bins' lower edges in µs."""
    place = np.floor(np.log(binned.middle_us) / _PEAK_BIN_SHARE).astype(int)
    # Empty bins on both sides make peaks at the edges detectable.
    first = int(place.min()) - 2
    size = int(place.max()) - first + 3
    sums = np.bincount(place - first, weights=values, minlength=size).astype(float)
    edges_us: Floats = np.exp((first + np.arange(size)) * _PEAK_BIN_SHARE)
    return sums, edges_us


def _converged(mixture: DurationMixture, binned: Durations) -> DurationMixture:
    """Return the mixture after repeated expectation and maximisation until convergence."""
    count = binned.count.astype(float)
    total = count.sum()
    middle_us = binned.middle_us
    even = _even(binned)
    narrowest_us = _NARROWEST_BINS * (binned.high_us - binned.low_us)
    mean_us, sd_us, share = mixture.mean_us, mixture.sd_us, mixture.share
    background, likelihood = mixture.background, -np.inf
    for _ in range(_MOST_STEPS):
        now = DurationMixture(mixture.shape, mean_us, sd_us, share, background, np.inf)
        parts = _masses(now, binned.low_us, binned.high_us)
        expected = np.maximum(parts.sum(axis=1) + background * even, _LEAST_DENSITY)
        previous, likelihood = likelihood, float(count @ np.log(expected))
        weight = parts * (count / expected)[:, None]
        sums = np.maximum(weight.sum(axis=0), 1e-9)
        mean_us = middle_us @ weight / sums
        variance = ((middle_us[:, None] - mean_us) ** 2 * weight).sum(axis=0) / sums
        nearest = np.clip(np.searchsorted(middle_us, mean_us), 0, middle_us.size - 1)
        sd_us = np.maximum(np.sqrt(variance), narrowest_us[nearest])
        share = sums / total
        background *= float((count * even / expected).sum() / total)
        if likelihood - previous < _STILL_NATS:
            break
    parameters = _PARAMETERS_A_BELL * mean_us.size
    bic = parameters * float(np.log(total)) - 2 * likelihood
    return DurationMixture(mixture.shape, mean_us, sd_us, share, background, bic)


def _masses(mixture: DurationMixture, low_us: Floats, high_us: Floats) -> Floats:
    """Return the expected share of all durations in each bin and component, shape (n, k)."""
    distribution = SHAPES[mixture.shape]
    low = distribution((low_us[:, None] - mixture.mean_us) / mixture.sd_us)
    high = distribution((high_us[:, None] - mixture.mean_us) / mixture.sd_us)
    masses: Floats = mixture.share * np.maximum(high - low, 0)
    return masses


def density(mixture: DurationMixture, binned: Durations) -> Floats:
    """Return the expected share of all durations in each bin, shape (n,)."""
    parts = _masses(mixture, binned.low_us, binned.high_us)
    expected: Floats = parts.sum(axis=1) + mixture.background * _even(binned)
    return np.maximum(expected, _LEAST_DENSITY)


def _even(binned: Durations) -> Floats:
    """Return the share of each bin, shape (n,), if durations were even on a logarithmic scale."""
    widths = np.log(binned.high_us) - np.log(binned.low_us)
    shares: Floats = widths / (np.log(binned.high_us[-1]) - np.log(binned.low_us[0]))
    return shares
