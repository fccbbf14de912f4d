"""Weights of a fit's policies by phases with zones, once the erase unit is known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from writeamp.devices.candidates import Candidate
from writeamp.learn.twin.fitting import Fit
from writeamp.learn.twin.likelihood import student_log
from writeamp.learn.twin.phases.served import ServedPhases, candidate_windows, small_unit
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.learn.twin.serving import Floats
from writeamp.runners import Runner, gather_whole, local_runner
from writeamp.units.ratios import physical_of

# Relative error of the WA of zones: their number is small, and they are chosen at random.
_ERROR = 0.03
# Variants with less weight than this are not simulated, and lose it.
_LEAST_WEIGHT = 1e-4
_SEED = 1


def weighed_by_zones(fitted: Fit, windows: PhaseWindows, runner: Runner | None = None) -> Fit:
    """Return a fit whose policies are also weighed by WA of the phases with zones.

    Victim policies that ignore the content of blocks move far more pages of zones than others.
    Without zones, or if the erase unit is unknown, the fit is returned unchanged.
    """
    unit, served = fitted.erase_unit_pages, windows.zoned
    if not served.windows or unit is None:
        return fitted
    measured = np.array([window.wa / windows.factor(group) for group, _, window in served.places])
    small = small_unit(unit[0], windows.logical_pages)
    weighed = fitted.weighed
    weights = np.bincount(weighed.variant, weighed.weight, minlength=len(fitted.variants))
    likely = [int(at) for at in np.flatnonzero(weights > _LEAST_WEIGHT)]
    members = []
    for at in likely:
        own = weighed.variant == at
        op = float(np.exp(np.average(weighed.log_op[own], weights=weighed.weight[own])))
        variant = fitted.variants[at]
        victims = variant.victims_on(physical_of(served.grid.logical_pages, op) / small)
        members.append(Candidate(variant.manager, victims, op, small, 1.0))
    runner = runner or local_runner(len(members))
    runs = gather_whole(runner, partial(_run, served), members)
    value = np.full(len(fitted.variants), -np.inf)
    for at, was in zip(likely, runs, strict=True):
        off = np.log(measured / was)
        if np.isfinite(off).all():
            value[at] = student_log(off, _ERROR).sum()
    if not np.isfinite(value).any():
        return fitted
    value -= value.max()
    weight = weighed.weight * np.exp(value)[weighed.variant]
    return replace(
        fitted,
        weighed=replace(weighed, weight=weight / weight.sum(), best=weighed.best + value),
    )


def _run(served: ServedPhases, member: Candidate) -> Floats:
    return candidate_windows(served, member, member.erase_unit_pages, _SEED)
