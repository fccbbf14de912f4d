"""Drive formulas of the library's profiles, fitted to their simulated answers.

`benches/blackbox_prior.py` simulates the profiles and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from writeamp.devices.raid import is_array, parse_array
from writeamp.errors import WriteampError, unknown
from writeamp.learn.blackbox.formulas.drive_formula import COSTS, DriveFormula
from writeamp.learn.blackbox.formulas.of_file import simulated_formula

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
