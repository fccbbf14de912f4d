"""States of the drive that a design varies: how full it is, and what was just written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown
from writeamp.learn.blackbox.space import SECTOR_BYTES, WorkloadPoint
from writeamp.studies.sweep.axes import BoundedAxis

FILL, RECENT_WRITES = "fill", "recent-writes"
STATES = (FILL, RECENT_WRITES)

_FILLS = BoundedAxis("fill", 0.25, 1.0, "linear", is_integer=False)
# A full drive, and one on which nothing was written, are kinds of their own.
_FULL_SHARE = 0.1
_NOTHING_SHARE = 0.2
# Recent writes, as shares of the space: what caches and free blocks take in lies between.
_RECENT_SHARES = BoundedAxis("recent-writes", 1 / 1024, 1 / 16, "log", is_integer=False)
# Draws of their own, so that the workloads of a design are the same whatever it varies.
_STREAM = 1


class StateNames:
    """Domain of names of states, as text with commas between, or as a sequence."""

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the names, each once and in the order of `STATES`."""
        if isinstance(value, str):
            value = [one.strip() for one in value.split(",")]
        if not isinstance(value, Sequence):
            raise WriteampError(
                f"{name} is {shown(value)}; it must name states: {', '.join(STATES)}"
            )
        for one in value:
            if one not in STATES:
                raise unknown("state", one, STATES)
        return tuple(one for one in STATES if one in value)


def in_states(
    points: Sequence[WorkloadPoint],
    vary: Sequence[str],
    burst_s: float | None,
    space_bytes: int,
    seed: int,
) -> list[WorkloadPoint]:
    """Return points with states of the drive that are drawn for each of them.

    A tenth of the drives are full, the others as full as any share from 0.25 on; before a fifth of
    the points nothing is written, before the others what lies evenly between the logarithms of a
    1024th and a 16th of the space. The states of fewer points are the first of more.

    Args:
        points: workloads.
        vary: which of `STATES` are drawn; the others are as usual.
        burst_s: how long each point is measured; None for the long run.
        space_bytes: the space of the target.
        seed: decides the draws.
    """
    draws = np.random.default_rng((seed, _STREAM)).random((len(points), len(STATES)))
    return [
        replace(
            point,
            fill=_fill(fill) if FILL in vary else 1.0,
            recent_write_bytes=_recent(recent, space_bytes) if RECENT_WRITES in vary else 0,
            burst_s=burst_s,
        )
        for point, (fill, recent) in zip(points, draws.tolist(), strict=True)
    ]


def _fill(share: float) -> float:
    if share < _FULL_SHARE:
        return 1.0
    return round(float(_FILLS.at((share - _FULL_SHARE) / (1 - _FULL_SHARE))), 4)


def _recent(share: float, space_bytes: int) -> int:
    if share < _NOTHING_SHARE:
        return 0
    of_space = _RECENT_SHARES.at((share - _NOTHING_SHARE) / (1 - _NOTHING_SHARE))
    return max(1, int(of_space * space_bytes) // SECTOR_BYTES) * SECTOR_BYTES
