"""Keyword arguments of targets, made by `make generate`."""

from __future__ import annotations

from typing import TypedDict


class TargetArguments(TypedDict, total=False):
    """Keyword arguments of `target_of`."""

    precision: float
    """a point ends when the 95% intervals of mean latency and bandwidth are within this share of
    them (default 0.01)."""

    most_s: float | str
    """virtual time after which a point ends anyway (default 60s)."""

    seed: int
    """decides all random draws of the workloads (default 1)."""

    runtime_s: float | str
    """how long fio measures each point, in the paper a minute (default 60s)."""

    precondition: str | None
    """none, fill, steady: what is written before the first point. steady, the default of devices,
    is SNIA's; of all others it is fill."""

    round_s: float | str
    """length of a round of precondition steady (default 60s)."""
