"""Defaults of settings from a profile that was learnt from a real drive.

Such profiles have several candidates: possible designs of the drive, with probabilities. Given
settings apply to all candidates. A run of a single drive uses the most probable candidate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from writeamp._engine import declared
from writeamp.devices.candidates import Candidates
from writeamp.devices.profile import profile
from writeamp.errors import WriteampError
from writeamp.fields.domains import several
from writeamp.registry.declarations import ZONED
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
    """Return the settings of an experiment for the most probable candidate, and all candidates.

    If the profile has no candidates, returns `tables` and None. For a comparison, the policies stay
    as given.

    Args:
        verb: function that runs the experiment, such as "simulate".
        tables: the given settings by title of their group; None means not given.

    Raises:
        WriteampError: the profile or its candidates cannot be read.
    """
    device = _given(tables["device"])
    candidates = candidates_in(device)
    if candidates is None:
        return tables, None
    if candidates.unit_for_zones and "pages_per_block" not in device and _has_zones(tables):
        raise WriteampError(
            f"WA of zones depends on the erase unit, and the candidates of {device.get('device')} "
            f"have other ones: {candidates.unit_for_zones}"
        )
    policy = _given(tables["policy"])
    # A comparison replaces the candidates' policies by those of its rows, so the given policies are
    # not set here.
    candidates = replaced_by(candidates, device if verb == "compare" else device | policy)
    assert candidates is not None
    best = candidates.members[0]
    drive = {"op": best.op, "pages_per_block": best.erase_unit_pages} | device
    if any(name in device for name in _RATIOS[1:]):
        del drive["op"]
    if not any(name in device for name in _SIZES):
        drive["blocks"] = candidates.blocks_of(best)
    if verb != "compare":
        policy = {"manager": best.manager, "victims": best.victims or None} | policy
    return {**tables, "device": drive, "policy": policy}, candidates


def _has_zones(tables: Mapping[str, Table]) -> bool:
    loads = _given(tables.get("load", {}))
    specs = [loads.get("workload"), *several(loads.get("workloads", ()))]
    return any(re.split(r"[:(]", str(spec))[0] in ZONED for spec in specs)


def candidates_in(device: Table) -> Candidates | None:
    """Return the candidates in the profile that settings name, or None if it has none.

    Raises:
        WriteampError: the profile cannot be read.
    """
    base = device.get("profile", device.get("device"))
    if not isinstance(base, str | Path) or not str(base).endswith(".toml"):
        return None
    # Arrays have no candidates. If the file is missing, building the drive gives the error later.
    if str(base).startswith("raid0:") or not Path(base).is_file():
        return None
    return profile(base).candidates


def most_probable(device: DeviceSettings, policy: P) -> tuple[DeviceSettings, P, tuple[str, ...]]:
    """Return the settings of a profile's most probable candidate, and a note on that choice.

    A policy setting that equals its default counts as not given, so the candidate's policy replaces
    it.
    """
    changed = {
        field.name: getattr(policy, field.name)
        for field in fields(policy)
        if field.name != "wear_leveling" and str(getattr(policy, field.name)) != str(field.default)
    }
    tables, candidates = with_candidates("serve", {"device": vars(device), "policy": changed})
    if candidates is None:
        return device, policy, ()
    drive = {name: value for name, value in tables["device"].items() if name in vars(device)}
    note = candidates.note_of_best(device.profile)
    return replace(device, **drive), replace(policy, **tables["policy"]), (note,)


def replaced_by(candidates: Candidates | None, settings: Mapping[str, Any]) -> Candidates | None:
    """Return the candidates, with their op, erase unit and policies replaced by given ones."""
    if candidates is None:
        return None
    values: dict[str, Any] = {}
    op = op_of(**{name: settings.get(name) for name in _RATIOS})
    if op is not None:
        values["op"] = op
    if settings.get("pages_per_block") is not None:
        values["erase_unit_pages"] = settings["pages_per_block"]
    if settings.get("manager") is not None:
        values["manager"] = str(settings["manager"])
        if (
            settings.get("victims") is None
            and not declared(str(settings["manager"]))["is_placement"]
        ):
            values["victims"] = ""
    if settings.get("victims") is not None:
        values["victims"] = str(settings["victims"])
    return candidates.replaced(**values)


def _given(table: Table) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value is not None}
