"""Drive formulas of device profiles, fitted to the profiles' simulated performance.

`benches/blackbox_prior.py` simulates the profiles of the library and writes `profiles.json`. A
profile in another file is simulated when it is used.
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
# Low precision suffices, because the formula has errors of several percent.
_SETTINGS = SimulatedSettings(precision=0.03, most_s=20.0)


@lru_cache
def simulated_formula(path: str) -> DriveFormula:
    """Return the formula of a profile, fitted to simulated random points.

    Args:
        path: path of the profile's .toml file.

    Raises:
        WriteampError: the file is not a profile of a flash drive, has no times, or more than half
            of the points cannot be simulated.
    """
    drive = device(path)
    if drive.kind != "flash" or not (drive.times or {}).get("timing"):
        raise WriteampError(
            f"{path} cannot be a prior: it must be a flash drive with a table [timing], the "
            "times of reads and programs (a twin has none)"
        )
    target = SimulatedTarget(path, settings=_SETTINGS)
    jobs = [target.job(point) for point in _DESIGN.listed(target.space_bytes)]
    account = TargetRows(target)
    outcomes = gather_whole(target.runner(len(jobs)), measure_point, jobs)
    rows = table_of(
        account.row(outcome, _DESIGN.kind) for outcome in outcomes if outcome.error is None
    )
    if rows.height < len(jobs) / 2:
        raise WriteampError(f"{path} cannot be a prior: {outcomes[0].error}")
    return formula_of_rows(rows)


NONE, AUTO = "none", "auto"
FILE = "profiles.json"


@cache
def profile_formulas() -> Mapping[str, DriveFormula]:
    """Return the formula of each profile that was simulated, by name."""
    text = resources.files("writeamp.learn.blackbox.formulas").joinpath(FILE).read_text("utf-8")
    return {
        name: DriveFormula(
            page_bytes=int(entry["page_bytes"]),
            merges=bool(entry["merges"]),
            logs=tuple(float(entry["log_costs"][cost]) for cost in COSTS),
        )
        for name, entry in json.loads(text)["profiles"].items()
    }


def fitted_from(base: str) -> dict[str, str]:
    """Return digests of the tables of a profile from which its formula is fitted.

    Names, summaries, sources, comments and number formats do not change the digests.

    Args:
        base: name or path of the profile.
    """
    simulated = dict(SimulatedTarget(base).meaning["device"])
    tables = tables_of(simulated.pop("times_json"))
    management = {name: simulated.pop(name, None) for name in ("layout", "logical_pages")}
    tables |= {"geometry": simulated, "management": management | {"op": profile(base).op}}
    return {name: _digest(tables[name]) for name in sorted(tables)}


def _digest(table: Mapping[str, Any]) -> str:
    # Numbers become floats, because 40 and 40.0 are the same time and must have the same digest.
    plain = json.loads(json.dumps(table), parse_int=float)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:12]


def chosen_formulas(prior: str, drives: Sequence[str]) -> dict[str, DriveFormula] | None:
    """Return the drive formulas that a prior consists of, by profile; None without a prior.

    Args:
        prior: "none", or a list with commas. Its items are names of profiles, .toml files of other
            profiles, which are simulated, and "auto" for all profiles of the library except the
            measured drives and the members of measured arrays.
        drives: names of the measured drives.

    Raises:
        WriteampError: a profile that is unknown or was itself measured, or a file that is not a
            profile of a flash drive with times.
    """
    if prior == NONE:
        return None
    measured = set(drives)
    for drive in filter(is_array, drives):
        measured |= set(parse_array(drive).members)
    formulas = profile_formulas()
    chosen: dict[str, DriveFormula] = {}
    for name in (word.strip() for word in prior.split(",")):
        if name == AUTO:
            chosen |= {word: formula for word, formula in formulas.items() if word not in measured}
        elif name in measured:
            raise WriteampError(
                f"the prior {name} is the measured drive itself, which would leak the answer; "
                f"use {AUTO} for all others"
            )
        elif name.endswith(".toml"):
            chosen[name] = simulated_formula(name)
        elif name == NONE:
            raise WriteampError(f"the prior is {prior!r}; {NONE} cannot be combined with others")
        elif name not in formulas:
            raise unknown("prior", name, [NONE, AUTO, *formulas])
        else:
            chosen[name] = formulas[name]
    return chosen
