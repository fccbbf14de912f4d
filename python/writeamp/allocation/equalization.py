"""Allocation of space by measured write amplification instead of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.allocation.groups import GroupTable, checked_groups, divided
from writeamp.allocation.result import records_of, weighted_wa
from writeamp.errors import WriteampError
from writeamp.fields.domains import POSITIVE_COUNT, Number
from writeamp.models._arguments import FloatArray, FloatOrArray, positive
from writeamp.models._expected_value import op_at
from writeamp.results.any_result import AnyResult

# Lower bound of WA − 1, for groups in which no migrated page was measured. Its logarithm stays
# finite.
_LEAST_MIGRATIONS = 1e-9

# Bounds of the fitted exponent γ. In the model γ is between 0.81 and 1 for every op, so values
# outside the bounds are noise.
_LEAST_EXPONENT, _MOST_EXPONENT = 0.5, 1.5

_ABOVE_ZERO = Number("be above 0", lambda value: value > 0)
_NOT_NEGATIVE = Number("be at least 0", lambda value: value >= 0)

_MOST_STEPS = 60
_CLOSE_ENOUGH = 1e-13


class EqualGain:
    """Moves space between groups until the next page of space reduces WA equally in every group.

    Let δ be the share of valid pages in the victims of a group, so that WA = 1/(1−δ). The class
    assumes that u = −ln δ follows a power law of the group's op, u ~ op^γ. The exponent γ is fitted
    through the last two measurements at different op. The gain of the next page of space is then
    p/s·WA·(WA−1)·γ·u/op, where s and p are the group's shares of the pages and of the writes. Space
    moves until all gains are equal. The WA of a group depends only on its own space, so that one
    round measures every group's gain. Until a group has two measurements at different op, γ is the
    model's value at the measured WA.

    Source: iterative allocations with equal gains, to which Dayan et al. 2015 (section 5.5) compare
    their methods. The power law is an addition of this library.
    """

    def __init__(
        self,
        sizes: npt.ArrayLike,
        frequencies: npt.ArrayLike,
        op: npt.ArrayLike,
        *,
        start: npt.ArrayLike | None = None,
        least_move: float = 1e-6,
    ) -> None:
        """Start from an allocation.

        Args:
            sizes: share of the logical pages in each group, shape (..., n), above 0.
            frequencies: share of the host's writes to each group, shape (..., n), above 0.
            op: over-provisioning (T−U)/U of the drive, shape (...).
            start: initial shares of the space, shape (..., n), above 0; by default those of the
                closed form.
            least_move: smallest relative change of a group's space after which γ is fitted again.
                For noisy measurements, use about ten times their relative error.

        Raises:
            WriteampError: a value is outside its domain.
        """
        self.groups = checked_groups(sizes, frequencies, op)
        if (self.groups.frequencies == 0).any():
            raise WriteampError(
                "frequencies must be above 0: WA cannot be measured in a group that is not written"
            )
        self._least_move = _ABOVE_ZERO.check("least_move", least_move)
        self.op_shares = self._started(start)
        self._last: tuple[FloatArray, FloatArray, FloatArray] | None = None

    @property
    def op_of_group(self) -> FloatArray:
        """Each group's current over-provisioning OP_x/s_x, shape (..., n)."""
        return self.groups.op_of_group(self.op_shares)

    def update(self, wa_of_group: npt.ArrayLike) -> FloatArray:
        """Move space according to the WA that was measured at the current allocation.

        Args:
            wa_of_group: measured WA of each group, shape (..., n), finite and at least 1.

        Returns:
            The new shares of the space, which are also stored in `op_shares`.

        Raises:
            WriteampError: the measured WA has another shape, or a value outside its domain.
        """
        wa = np.maximum(self._measured(wa_of_group), 1 + _LEAST_MIGRATIONS)
        decay = np.log(wa / (wa - 1))
        op_of_group = self.op_of_group
        exponent = self._learnt(np.log(op_of_group), decay)
        gain = self.groups.hit_rates * wa * (wa - 1) * exponent * decay / op_of_group
        fall = 1 + exponent * (decay / np.tanh(decay / 2) - 1)
        self.op_shares = _levelled(self.op_shares, gain, fall)
        return self.op_shares

    def _learnt(self, log_op: FloatArray, decay: FloatArray) -> FloatArray:
        """Return γ by group; fit it again where space changed by at least `least_move`."""
        log_decay = np.log(decay)
        exponent = _model_exponent(decay)
        if self._last is not None:
            exponent, last_log_op, last_log_decay = self._last
            change_of_op = log_op - last_log_op
            apart = np.abs(change_of_op) >= self._least_move
            secant = (log_decay - last_log_decay) / np.where(apart, change_of_op, 1.0)
            exponent = np.where(apart, np.clip(secant, _LEAST_EXPONENT, _MOST_EXPONENT), exponent)
            log_op = np.where(apart, log_op, last_log_op)
            log_decay = np.where(apart, log_decay, last_log_decay)
        self._last = exponent, log_op, log_decay
        return exponent

    def _started(self, start: npt.ArrayLike | None) -> FloatArray:
        if start is None:
            return divided("closed-form", self.groups)
        shares = positive("start", start)
        if shares.shape != self.groups.sizes.shape:
            raise WriteampError(
                f"start has the shape {shares.shape}; it must be {self.groups.sizes.shape}"
            )
        started: FloatArray = shares / shares.sum(-1, keepdims=True)
        return started

    def _measured(self, wa_of_group: npt.ArrayLike) -> FloatArray:
        wa = np.asarray(wa_of_group, dtype=np.float64)
        if wa.shape != self.groups.sizes.shape:
            raise WriteampError(
                f"the measured WA has the shape {wa.shape}; it must be {self.groups.sizes.shape}"
            )
        if not (np.isfinite(wa) & (wa >= 1)).all():
            raise WriteampError("the measured WA of every group must be finite and at least 1")
        return wa


@dataclass(frozen=True)
class Followed(AnyResult):
    """Result of `equal_gain`: the best measured division, and the WA of every round.

    `op_shares` (shape (..., n)) is the division with the lowest measured WA of all writes. `wa`
    (shape (...)) is that WA, and `wa_of_group` (shape (..., n)) the WA of each group. `history` has
    the WA of every round, shape (rounds, ...). `settled` is false if the rounds ended while the
    division still changed. This happens if measurements are noisy, or if WA is not a smooth
    function of space, as for greedy collection of blocks with few pages. The division then varies
    around the minimum.
    """

    groups: GroupTable
    op_shares: FloatArray
    wa_of_group: FloatArray
    wa: FloatOrArray
    history: FloatArray
    settled: bool

    def _records(self) -> list[dict[str, Any]]:
        return records_of(self.groups, self.op_shares, self.wa_of_group, wa=self.wa)


def equal_gain(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    measure: Callable[[FloatArray], npt.ArrayLike],
    *,
    start: npt.ArrayLike | None = None,
    least_move: float = 1e-6,
    rounds: int = 50,
    tolerance: float = 1e-9,
) -> Followed:
    """Measure WA and move space in turn, until the division no longer changes (see `EqualGain`).

    Args:
        sizes: `sizes`, `frequencies`, `op`, `start` and `least_move` are as for `EqualGain`.
        frequencies: see `sizes`.
        op: see `sizes`.
        measure: returns the measured WA of each group, shape (..., n). Its argument is each
            group's own over-provisioning OP_x/s_x, in the same shape.
        start: see `sizes`.
        least_move: see `sizes`.
        rounds: maximum number of measurements.
        tolerance: the division is settled if no group's share of the space changes by more than
            this.

    Returns:
        `Followed`: `op_shares`, `wa_of_group`, `wa`, `history` (WA of each round), `settled`.

    Raises:
        WriteampError: a value is outside its domain.

    >>> import writeamp as wa
    >>> result = wa.allocation.equal_gain([0.75, 0.25], [0.2, 0.8], 0.4, wa.models.expected_value)
    >>> best = wa.allocation.optimal([0.75, 0.25], [0.2, 0.8], 0.4)
    >>> abs(float(result.wa / best.wa) - 1) < 1e-9
    True
    """
    rounds = POSITIVE_COUNT.check("rounds", rounds)
    tolerance = _NOT_NEGATIVE.check("tolerance", tolerance)
    walk = EqualGain(sizes, frequencies, op, start=start, least_move=least_move)
    shares, measured, history = [], [], []
    for _ in range(rounds):
        shares.append(walk.op_shares)
        wa = np.asarray(measure(walk.op_of_group), dtype=np.float64)
        moved = np.abs(walk.update(wa) - shares[-1]).max()
        measured.append(wa)
        history.append(np.asarray(weighted_wa(walk.groups, wa)))
        if moved <= tolerance:
            break
    best = np.argmin(history, axis=0)[np.newaxis, ..., np.newaxis]
    best_shares, best_measured = (
        np.take_along_axis(np.asarray(rows), best, axis=0)[0] for rows in (shares, measured)
    )
    return Followed(
        groups=walk.groups,
        op_shares=best_shares,
        wa_of_group=best_measured,
        wa=weighted_wa(walk.groups, best_measured),
        history=np.asarray(history),
        settled=bool(moved <= tolerance),
    )


def _levelled(shares: FloatArray, gain: FloatArray, fall: FloatArray) -> FloatArray:
    """Return the shares at which gain·(new share/share)^(−fall) is the same in every group."""
    log_gain = np.log(gain)
    # Start from a level at which no group loses space, so that the sum of shares is above 1.
    level = log_gain.min(-1)
    for _ in range(_MOST_STEPS):
        taken = shares * np.exp((log_gain - level[..., np.newaxis]) / fall)
        total = taken.sum(-1)
        # Newton's method converges fast, since ln(total) is convex in the level and almost linear.
        step = np.log(total) * total / (taken / fall).sum(-1)
        level = level + step
        if np.abs(step).max(initial=0.0) < _CLOSE_ENOUGH:
            break
    levelled: FloatArray = taken / total[..., np.newaxis]
    return levelled


def _model_exponent(decay: FloatArray) -> FloatArray:
    """Return d ln u / d ln op of `models.expected_value` where u = −ln δ is `decay`."""
    op, slope = op_at(decay / 2)
    return 2 * op / (decay * slope)
