"""Better errors for specs whose name or parameter belongs to another entry."""

from __future__ import annotations

import re

from writeamp.errors import WriteampError
from writeamp.registry.entries import EngineKind, Entry, engine_entries

# Arguments that take the specs of a kind, with the options in parentheses.
_ARGUMENTS: dict[EngineKind, tuple[str, str]] = {
    "workloads": ("a workload", "workload (--workload)"),
    "managers": ("a block manager", "manager (--manager, or --managers of several)"),
    "victims": ("a victim policy", "victims (--victims)"),
    "wear_levelers": ("a wear leveller", "wear_leveling (--wear-leveling)"),
    "detectors": ("a detector", "parameter detector of a block manager, as in wolf:detector=bloom"),
}


def misplaced(kind: EngineKind, text: str, sentence: str) -> WriteampError | None:
    """Return an error that names the right place of a name or parameter; None if it is unknown.

    Args:
        kind: kind of the spec.
        text: the spec, such as "greedy" as a block manager.
        sentence: the usual error of the spec.
    """
    name = re.split(r"[:(]", text, maxsplit=1)[0].strip()
    entry = _entry(kind, name)
    if entry is None:
        others = (other for other in _ARGUMENTS if other != kind and _entry(other, name))
        for other in others:
            what, place = _ARGUMENTS[other]
            wanted, _ = _ARGUMENTS[kind]
            return WriteampError(f"{name} is {what}, not {wanted}; give it as {place}")
    unknown = re.search(r"^unknown parameter of .* '([^']*)'", sentence)
    if unknown and entry is not None and not entry.params:
        parameter = unknown[1]
        having = [each for each in engine_entries(kind) if _has(each, parameter)]
        hint = f"; did you mean {' or '.join(each.example for each in having)}?" if having else ""
        return WriteampError(f"{name} has no parameters, but {parameter!r} is given{hint}")
    return None


def _entry(kind: EngineKind, name: str) -> Entry | None:
    return next((entry for entry in engine_entries(kind) if entry.name == name), None)


def _has(entry: Entry, parameter: str) -> bool:
    return any(parameter in (each.name, *each.aliases) for each in entry.params)
