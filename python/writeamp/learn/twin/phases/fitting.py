"""Fit of a twin to a drive's counters in phases of known loads."""

from __future__ import annotations

from collections.abc import Iterable

from writeamp.learn.twin.fitting import Fit, fit
from writeamp.learn.twin.phases.table import CountedDrive
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.learn.twin.phases.zoned import weighed_by_zones
from writeamp.runners import Progress, Runner


def fit_phases(
    drive: CountedDrive,
    phases: Iterable[str] | None = None,
    *,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return hidden parameters of a drive, learnt from its counters in phases of known loads.

    WA in the steady part of each phase is divided by the WA of the fill before it, and compared
    with that of candidates that serve the same phases from the same state.

    Args:
        drive: from `read_drives`.
        phases: names of the phases to learn from, RUN:PHASE; by default all.
        runner: runs the simulations.
        progress: called with the number of finished simulations, and of all.

    Returns:
        `Fit`; see `fit`.

    Raises:
        WriteampError: a phase is unknown, or none can be learnt from.
    """
    windows = PhaseWindows(drive, drive.chosen(phases))
    fitted = fit(windows, runner=runner, progress=progress)
    return weighed_by_zones(fitted, windows, runner)
