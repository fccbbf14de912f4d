"""Keyword arguments of targets, made by `make generate`."""

from __future__ import annotations

from typing import TypedDict


class TargetArguments(TypedDict, total=False):
    """Keyword arguments of `target_of`."""

    precision: float
    """a point ends when the half widths of the 95% intervals of mean latency and bandwidth are at
    most this share of the means (default 0.01)."""

    most_s: float | str
    """virtual time after which a point ends even if its means are not precise (default 60s)."""

    seed: int
    """seed of all random draws of the workloads (default 1)."""

    runtime_s: float | str
    """time for which fio measures each point (one minute in the paper) (default 60s)."""

    precondition: str | None
    """none, fill, steady: writes before the first point. fill writes the target once; steady writes
    it twice, and then at random until SNIA's steady state (default: steady for block devices, else
    fill)."""

    round_s: float | str
    """time of each round of random writes of precondition steady; rounds are written until five in
    a row have about the same throughput (default 60s)."""
