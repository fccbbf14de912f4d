"""Settings from a profile that was learnt from a real drive, in the place of defaults.

The drive may be any of its candidates. What is given otherwise counts in all of them; a run of one
drive takes the most probable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from writeamp._engine import declared
from writeamp.devices.candidates import Candidates
from writeamp.devices.profile import profile
from writeamp.settings.device import DeviceSettings
from writeamp.settings.settings import PolicySettings
from writeamp.units.ratios import op_of

P = TypeVar("P", bound=PolicySettings)

Table = Mapping[str, Any]

_SIZES = ("size", "capacity", "blocks", "logical_blocks", "logical_pages")
_RATIOS = ("op", "fill", "spare_factor")


def with_candidates(
    verb: str, tables: Mapping[str, Table]
) -> tuple[Mapping[str, Table], Candidates | None]:
    """Return the settings of an experiment on the most probable candidate, and all candidates.

    Args:
        verb: what the experiment is for.
        tables: by title, the settings that are given; a value of None is not.

    Raises:
        WriteampError: the profile cannot be read, or holds no such candidates.
    """
    device = _given(tables["device"])
    found = candidates_in(device)
    if found is None:
        return tables, None
    policy = _given(tables["policy"])
    # Policies of a comparison are those of its rows, and each has candidates of its own.
    found = replaced_by(found, device if verb == "compare" else device | policy)
    assert found is not None
    best = found.members[0]
    drive = {"op": best.op, "pages_per_block": best.erase_unit_pages} | device
    if any(name in device for name in _RATIOS[1:]):
        del drive["op"]
    if not any(name in device for name in _SIZES):
        drive["blocks"] = found.blocks_of(best)
    if verb != "compare":
        policy = {"manager": best.manager, "victims": best.victims or None} | policy
    return {**tables, "device": drive, "policy": policy}, found


def candidates_in(device: Table) -> Candidates | None:
    """Return the candidates in the profile that settings of a drive name; None of any other.

    Raises:
        WriteampError: the profile cannot be read.
    """
    base = device.get("profile", device.get("device"))
    if not isinstance(base, str | Path) or not str(base).endswith(".toml"):
        return None
    # An array has no candidates, and a file that is not there is told of when the drive is built.
    if str(base).startswith("raid0:") or not Path(base).is_file():
        return None
    return profile(base).candidates


def most_probable(device: DeviceSettings, policy: P) -> tuple[DeviceSettings, P, tuple[str, ...]]:
    """Return the settings of one drive, where a profile may be many, and a note that says which.

    A policy that has its default is taken for one that was not given.
    """
    asked = {
        one.name: getattr(policy, one.name)
        for one in fields(policy)
        if one.name != "wear_leveling" and str(getattr(policy, one.name)) != str(one.default)
    }
    tables, found = with_candidates("serve", {"device": vars(device), "policy": asked})
    if found is None:
        return device, policy, ()
    drive = {name: one for name, one in tables["device"].items() if name in vars(device)}
    note = found.note_of_best(device.profile)
    return replace(device, **drive), replace(policy, **tables["policy"]), (note,)


def replaced_by(candidates: Candidates | None, given: Mapping[str, Any]) -> Candidates | None:
    """Return candidates all of which have the op, erase unit and policies that are given."""
    if candidates is None:
        return None
    values: dict[str, Any] = {}
    op = op_of(**{name: given.get(name) for name in _RATIOS})
    if op is not None:
        values["op"] = op
    if given.get("pages_per_block") is not None:
        values["erase_unit_pages"] = given["pages_per_block"]
    if given.get("manager") is not None:
        values["manager"] = str(given["manager"])
        if given.get("victims") is None and not declared(str(given["manager"]))["is_placement"]:
            values["victims"] = ""
    if given.get("victims") is not None:
        values["victims"] = str(given["victims"])
    return candidates.replaced(**values)


def _given(table: Table) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value is not None}
