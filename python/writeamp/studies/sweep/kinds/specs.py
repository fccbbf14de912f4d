"""Parameters of specs as axes, such as `workload.s` or `manager.d_swap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from writeamp import custom
from writeamp._engine import parse
from writeamp.errors import WriteampError, unknown
from writeamp.registry.entries import EngineKind, Entry, engine_entries
from writeamp.registry.specs import Spec, manager, victims, wear_leveling, workload

# Settings whose value is a spec (a name with parameters), and the registry of each.
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
    """Reject a parameter that no registered name of the setting has.

    If users can define names of the setting, any parameter is accepted.

    Raises:
        WriteampError: no registered name has the parameter; the message lists the valid parameters.
    """
    valid_names = {
        parameter for entry in engine_entries(KINDS[setting]) for parameter in _names(entry)
    }
    # Users' policies may have other parameters, which are unknown until a policy is named. So the
    # name is not rejected here.
    if name not in valid_names and KINDS[setting] not in custom.KINDS:
        raise WriteampError(
            f"{where}: {unknown(f'parameter of {setting}', name, sorted(valid_names))}"
        )


def with_parameters(setting: str, text: str, changes: Mapping[str, Any]) -> str:
    """Return the text of a spec with some parameters replaced or added.

    Raises:
        WriteampError: the spec has no such parameter, or a value is outside its domain.
    """
    own_policy = custom.find(KINDS[setting], text)
    if own_policy is not None:
        return _MAKERS[setting](own_policy.reference, **(own_policy.arguments | dict(changes))).text
    name, spec_params = _parts(setting, text)
    entry = next(
        candidate for candidate in engine_entries(KINDS[setting]) if candidate.name == name
    )
    canonical = {
        alias: param.name for param in entry.params for alias in (param.name, *param.aliases)
    }
    params: dict[str, Any] = dict(spec_params)
    seen: set[str] = set()
    for key, value in changes.items():
        if not canonical:
            raise WriteampError(f"{setting} {name} has no parameters, so {key} is invalid; omit it")
        if key not in canonical:
            raise unknown(
                f"parameter of {setting} {name}", key, [param.name for param in entry.params]
            )
        if canonical[key] in seen:
            raise WriteampError(
                f"{setting}.{key} is an alias of another axis; give only one of them"
            )
        seen.add(canonical[key])
        params[canonical[key]] = value
    return _MAKERS[setting](name, **params).text


@lru_cache(maxsize=4096)
def parameters_of(setting: str, text: str) -> Mapping[str, str]:
    """Return all parameters of a spec, including defaults, with their values as text.

    For users' policies, returns only the parameters in the text: the defaults would need an import
    of the policy, which reading results must not do.
    """
    kind = KINDS[setting]
    name, written_params = custom.as_written(text) if kind in custom.KINDS else ("", {})
    if kind in custom.KINDS and name not in {entry.name for entry in engine_entries(kind)}:
        return written_params
    return Spec.of(kind, text).params


@lru_cache(maxsize=4096)
def _parts(setting: str, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the name of a spec, and the parameters that its text states."""
    if text in {entry.name for entry in engine_entries(KINDS[setting])}:
        return text, ()  # axes may add required parameters later
    parsed = parse(KINDS[setting], text)
    return parsed["name"], tuple((name, parsed["params"][name]) for name in parsed["given"])


def _names(entry: Entry) -> set[str]:
    return {parameter for param in entry.params for parameter in (param.name, *param.aliases)}
