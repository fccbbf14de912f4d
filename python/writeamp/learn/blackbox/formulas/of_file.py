"""Drive formula of a profile in a file, which is simulated for it."""

from __future__ import annotations

from functools import lru_cache

from writeamp.devices.device import device
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.formulas.drive_formula import DriveFormula
from writeamp.learn.blackbox.formulas.fit import formula_of_rows
from writeamp.learn.blackbox.rows import Account, table_of
from writeamp.learn.blackbox.targets.settings import SimulatedSettings
from writeamp.learn.blackbox.targets.simulated import SimulatedTarget
from writeamp.learn.blackbox.targets.target import measure_point
from writeamp.runners import gather_whole

_DESIGN = Design("random", points=100, seed=1)
# The formula itself is some percent off.
_SETTINGS = SimulatedSettings(precision=0.03, most_s=20.0)


@lru_cache
def simulated_formula(path: str) -> DriveFormula:
    """Return the formula of a profile, fitted to simulated random points.

    Args:
        path: of the .toml file.

    Raises:
        WriteampError: it is no profile of a flash drive, says nothing of times, or some points
            cannot be simulated.
    """
    found = device(path)
    if found.kind != "flash" or not (found.times or {}).get("timing"):
        raise WriteampError(
            f"{path} is no prior: it is no flash drive with a table [timing], which says how long "
            "reads and programs take (a twin knows write amplification alone)"
        )
    target = SimulatedTarget(path, settings=_SETTINGS)
    jobs = [target.job(point) for point in _DESIGN.listed(target.space_bytes)]
    account = Account(target)
    outcomes = gather_whole(target.runner(len(jobs)), measure_point, jobs)
    rows = table_of(account.row(one, _DESIGN.kind) for one in outcomes if one.error is None)
    if rows.height < len(jobs) / 2:
        raise WriteampError(f"{path} is no prior: {outcomes[0].error}")
    return formula_of_rows(rows)
