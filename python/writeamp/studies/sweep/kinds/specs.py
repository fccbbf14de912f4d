"""Parameters inside specs, as axes name them: `workload.s`, `manager.d_swap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from writeamp import custom
from writeamp._engine import parse
from writeamp.errors import WriteampError, unknown
from writeamp.registry.entries import EngineKind, Entry, engine_entries
from writeamp.registry.specs import Spec, manager, victims, wear_leveling, workload

# The settings that are specs, of one verb or another, and what makes one of each.
KINDS: dict[str, EngineKind] = {
    "workload": "workloads",
    "manager": "managers",
    "managers": "managers",
    "victims": "victims",
    "wear_leveling": "wear_levelers",
}
_MAKERS: dict[str, Callable[..., Spec]] = {
    "workload": workload,
    "manager": manager,
    "managers": manager,
    "victims": victims,
    "wear_leveling": wear_leveling,
}


def check_parameter(setting: str, name: str, where: str) -> None:
    """Refuse a parameter that no entry of the setting has.

    Raises:
        WriteampError: so it is, with the names that are valid.
    """
    known = {one for entry in engine_entries(KINDS[setting]) for one in _names(entry)}
    # What a user's policy takes is known once it is named.
    if name not in known and KINDS[setting] not in custom.KINDS:
        raise WriteampError(f"{where}: {unknown(f'parameter of {setting}', name, sorted(known))}")


def with_parameters(setting: str, text: str, changes: Mapping[str, Any]) -> str:
    """Return the text of a spec with some parameters replaced, or given if it lacks them.

    Raises:
        WriteampError: a parameter that the spec has not, or a value outside its domain.
    """
    own_policy = custom.find(KINDS[setting], text)
    if own_policy is not None:
        return _MAKERS[setting](own_policy.reference, **(own_policy.given | dict(changes))).text
    name, given = _parts(setting, text)
    entry = next(one for one in engine_entries(KINDS[setting]) if one.name == name)
    canonical = {one: param.name for param in entry.params for one in (param.name, *param.aliases)}
    found: dict[str, Any] = dict(given)
    named: set[str] = set()
    for key, value in changes.items():
        if not canonical:
            raise WriteampError(f"{setting} {name} has no parameters, and so no {key}")
        if key not in canonical:
            raise unknown(f"parameter of {setting} {name}", key, [one.name for one in entry.params])
        if canonical[key] in named:
            raise WriteampError(f"{setting}.{key} is another name of an axis that there is already")
        named.add(canonical[key])
        found[canonical[key]] = value
    return _MAKERS[setting](name, **found).text


@lru_cache(maxsize=4096)
def parameters_of(setting: str, text: str) -> Mapping[str, str]:
    """Return every parameter of a spec with its value as text.

    Of users' policies only those that are given: whoever looks at results imports nothing that
    they name.
    """
    kind = KINDS[setting]
    name, given = custom.as_written(text) if kind in custom.KINDS else ("", {})
    if kind in custom.KINDS and name not in {entry.name for entry in engine_entries(kind)}:
        return given
    return Spec.of(kind, text).params


@lru_cache(maxsize=4096)
def _parts(setting: str, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the name of a spec and the parameters that it gives."""
    if text in {entry.name for entry in engine_entries(KINDS[setting])}:
        return text, ()  # perhaps no spec yet: parameters that must be given may come by axes
    found = parse(KINDS[setting], text)
    return found["name"], tuple((name, found["params"][name]) for name in found["given"])


def _names(entry: Entry) -> set[str]:
    return {one for param in entry.params for one in (param.name, *param.aliases)}
