"""Drive formulas of profiles, fitted to their simulated answers.

`benches/blackbox_prior.py` simulates the profiles of the library and writes the file of theirs; a
profile in another file is simulated when it is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from writeamp.devices.device import device
from writeamp.devices.profile import profile
from writeamp.devices.raid import is_array, parse_array
from writeamp.devices.times import tables_of
from writeamp.errors import WriteampError, unknown
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.formulas.drive_formula import COSTS, DriveFormula
from writeamp.learn.blackbox.formulas.fit import formula_of_rows
from writeamp.learn.blackbox.measurement_file import TargetRows, table_of
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
    account = TargetRows(target)
    outcomes = gather_whole(target.runner(len(jobs)), measure_point, jobs)
    rows = table_of(account.row(one, _DESIGN.kind) for one in outcomes if one.error is None)
    if rows.height < len(jobs) / 2:
        raise WriteampError(f"{path} is no prior: {outcomes[0].error}")
    return formula_of_rows(rows)


NONE, AUTO = "none", "auto"
FILE = "profiles.json"


@cache
def profile_formulas() -> Mapping[str, DriveFormula]:
    """Return the formula of each profile that was simulated, by name."""
    text = resources.files("writeamp.learn.blackbox.formulas").joinpath(FILE).read_text("utf-8")
    return {
        name: DriveFormula(
            page_bytes=int(one["page_bytes"]),
            merges=bool(one["merges"]),
            logs=tuple(float(one["log_costs"][cost]) for cost in COSTS),
        )
        for name, one in json.loads(text)["profiles"].items()
    }


def fitted_from(base: str) -> dict[str, str]:
    """Return what the formula of a profile is fitted from: a digest for each of its tables.

    Names, summaries, sources and comments of a profile are not in them, nor how a number is
    written.

    Args:
        base: name or path of the profile.
    """
    simulated = dict(SimulatedTarget(base).meaning["device"])
    tables = tables_of(simulated.pop("times_json"))
    management = {name: simulated.pop(name, None) for name in ("layout", "logical_pages")}
    tables |= {"geometry": simulated, "management": management | {"op": profile(base).op}}
    return {name: _digest(tables[name]) for name in sorted(tables)}


def _digest(table: Mapping[str, Any]) -> str:
    # As floats: 40 and 40.0 are one time.
    plain = json.loads(json.dumps(table), parse_int=float)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:12]


def chosen_formulas(asked: str, drives: Sequence[str]) -> dict[str, DriveFormula] | None:
    """Return the formulas that a prior begins with, by profile; None if there is to be no prior.

    Args:
        asked: "none"; or, with commas between, "auto" for all profiles of the library but the
            drives and the members of arrays of them, names of profiles, and .toml files of
            others, which are simulated for it.
        drives: names of what was measured.

    Raises:
        WriteampError: a profile that is not known, or that was itself measured, or a file that is
            no profile of a flash drive with times.
    """
    if asked == NONE:
        return None
    measured = set(drives)
    for drive in filter(is_array, drives):
        measured |= set(parse_array(drive).members)
    known = profile_formulas()
    found: dict[str, DriveFormula] = {}
    for name in (one.strip() for one in asked.split(",")):
        if name == AUTO:
            found |= {one: formula for one, formula in known.items() if one not in measured}
        elif name in measured:
            raise WriteampError(
                f"the prior {name} is what was measured, and would foretell its own answers; "
                f"{AUTO} takes all others"
            )
        elif name.endswith(".toml"):
            found[name] = simulated_formula(name)
        elif name == NONE:
            raise WriteampError(f"the prior is {asked!r}; {NONE} goes with no other")
        elif name not in known:
            raise unknown("prior", name, [NONE, AUTO, *known])
        else:
            found[name] = known[name]
    return found
