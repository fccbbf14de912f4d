"""Drive formulas of the library's profiles, fitted to their simulated answers.

`benches/blackbox_prior.py` simulates the profiles and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from writeamp.blackbox.formulas.drive_formula import COSTS, DriveFormula
from writeamp.devices.raid import is_array, parse_array
from writeamp.errors import WriteampError, unknown

NONE, AUTO = "none", "auto"
FILE = "profiles.json"


@cache
def profile_formulas() -> Mapping[str, DriveFormula]:
    """Return the formula of each profile that was simulated, by name."""
    text = resources.files("writeamp.blackbox.formulas").joinpath(FILE).read_text("utf-8")
    return {
        name: DriveFormula(
            page_bytes=int(one["page_bytes"]),
            merges=bool(one["merges"]),
            logs=tuple(float(one["log_costs"][cost]) for cost in COSTS),
        )
        for name, one in json.loads(text)["profiles"].items()
    }


def chosen_profiles(asked: str, drives: Sequence[str]) -> tuple[str, ...] | None:
    """Return the profiles that a prior begins with; None if there is to be no prior.

    Args:
        asked: "none"; "auto" for all but the drives and the members of arrays of them; or names of
            profiles with commas between.
        drives: names of what was measured.

    Raises:
        WriteampError: a profile that is not known, or that was itself measured.
    """
    if asked == NONE:
        return None
    measured = set(drives)
    for drive in filter(is_array, drives):
        measured |= set(parse_array(drive).members)
    known = profile_formulas()
    if asked == AUTO:
        return tuple(name for name in known if name not in measured)
    names = tuple(name.strip() for name in asked.split(","))
    for name in names:
        if name not in known:
            raise unknown("prior", name, [NONE, AUTO, *known])
        if name in measured:
            raise WriteampError(
                f"the prior {name} is what was measured, and would foretell its own answers; "
                f"{AUTO} takes all others"
            )
    return names
