"""Clock of a trace: its duration, and signs that its times are wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

_NS_PER_S = 1e9
DATES_S = range(10**9, 22 * 10**8)
"""Seconds since 1970 that are dates from 2001 to 2040."""
_S_PER_DAY = 86_400
# Longest plausible pause in a block trace. A longer one means that a clock was set, or that CPUs
# have different clocks.
_LONGEST_PAUSE_S = 30 * _S_PER_DAY
_LONGEST_S = 20 * 365 * _S_PER_DAY
# A step back in time makes the duration doubtful if it exceeds both this share of the duration and
# this number of seconds. Requests out of order cause smaller steps.
_LARGEST_STEP_BACK, _SHORTEST_STEP_BACK_S = 0.1, 1e-3
_AS_FAR = 0.9
MOST_BACKWARD_STEPS, _FEWEST_STEPS = 0.25, 8
_HIGHEST_RATE, _FEWEST_OF_RATE = 1e7, 4


@dataclass(frozen=True)
class TraceClock:
    """Duration of a trace and doubts about its times.

    Attributes:
        duration_s: latest minus earliest time; None if the times are doubtful.
        doubts: sentences with the reasons.
        absurd_rate: clause with the number of requests and their time span, if no drive is that
            fast; otherwise None.
    """

    duration_s: float | None
    doubts: tuple[str, ...] = ()
    absurd_rate: str | None = None


def clock_of(requests: pl.DataFrame) -> TraceClock:
    """Return the clock of one or more requests with the columns of `SCHEMA`."""
    times = requests["timestamp_ns"].to_numpy()
    count, first_ns = len(times), int(times.min())
    span_s = (int(times.max()) - first_ns) / _NS_PER_S
    if count == 1:
        return TraceClock(0.0)
    if not span_s:
        same = f"all {count:,} requests have the time {in_words(first_ns / _NS_PER_S)} s"
        return TraceClock(None, (f"{same}: the duration is unknown",))
    rate = None
    if count >= _FEWEST_OF_RATE and count / span_s >= _HIGHEST_RATE:
        rate = f"{count:,} requests would come within {in_words(span_s)} s"
    doubts = [] if rate is None else [f"{rate}: the unit of the times is doubtful"]
    doubts += _of_steps(requests, span_s)
    if not doubts and span_s > _LONGEST_S:
        doubts.append(f"the times span {in_words(span_s)} s: their unit is doubtful")
    return TraceClock(None if doubts else span_s, tuple(doubts), rate)


def backward_steps(requests: pl.DataFrame) -> int:
    """Return the number of requests that are earlier than the previous one of their device."""
    return len(_steps_back(requests)[0])


def _of_steps(requests: pl.DataFrame, span_s: float) -> list[str]:
    steps_s = _steps_s(requests["timestamp_ns"].to_numpy())
    back_s, back_rows = _steps_back(requests)
    longest_back_s = float(back_s.max(initial=0))
    longest_pause_s = float(_LONGEST_PAUSE_S)
    jumps = []
    if longest_back_s >= max(_SHORTEST_STEP_BACK_S, _LARGEST_STEP_BACK * span_s):
        row = int(np.argmax(back_s))
        jumps.append((int(back_rows[row]), "jump back", longest_back_s))
        # A clock that jumps far back usually jumped ahead about as far in an earlier row. So a step
        # ahead of 90% of that length counts as a jump, and the jump in the earlier row is reported.
        longest_pause_s = min(longest_pause_s, _AS_FAR * longest_back_s)
    if len(ahead := np.flatnonzero(steps_s > longest_pause_s)):
        jumps.append((int(ahead[0]) + 2, "jump", float(steps_s[ahead[0]])))
    doubts = []
    if jumps:
        row, way, jump_s = min(jumps)
        doubts.append(f"times {way} by {in_words(jump_s)} s at row {row}: the duration is unknown")
    if len(steps_s) >= _FEWEST_STEPS and len(back_s) >= MOST_BACKWARD_STEPS * len(steps_s):
        doubts.append(
            f"{len(back_s):,} of {len(steps_s):,} times run backwards: the column may not be a time"
        )
    return doubts


def _steps_back(
    requests: pl.DataFrame,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Return the steps back in time between requests of one device, in s, and their rows.

    The row of a step is that of its later request; rows count from 1, in the order of the file. A
    change of the device does not count as a step, so files sorted by device cause no doubts.
    """
    times, device = requests["timestamp_ns"].to_numpy(), requests["device"].to_numpy()
    steps_s = _steps_s(times)
    order = np.arange(len(times))
    if (steps_s < 0).any() and device.min() != device.max():
        order = np.argsort(device, kind="stable")
        steps_s = _steps_s(times[order])
        steps_s[np.diff(device[order]) != 0] = 0
    is_back = steps_s < 0
    return -steps_s[is_back], order[1:][is_back] + 1


def _steps_s(times_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    span_ns = int(times_ns.max()) - int(times_ns.min()) if len(times_ns) else 0
    steps_ns = np.diff(times_ns if span_ns < 2**63 else times_ns.astype(np.float64))
    return steps_ns / _NS_PER_S


def in_words(seconds: float) -> str:
    """Return seconds with three digits, such as 1.27e9, 7,200 or 0.0213."""
    if 1000 <= seconds < 1e6:
        return f"{seconds:,.0f}"
    digits, is_power, exponent = f"{seconds:.3g}".partition("e")
    return f"{digits}e{int(exponent)}" if is_power else digits
