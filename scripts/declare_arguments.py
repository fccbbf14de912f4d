"""Generate the types of functions' keyword arguments from the fields of settings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import Field
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.fields.setting import Places, argument_fields, help_of, places_in, words_of
from writeamp.learn.blackbox.targets.settings import TARGET_PLACES
from writeamp.settings.experiment import setting_places
from writeamp.studies.blame.settings import BLAME_PLACES
from writeamp.theory.settings import PredictionSettings
from writeamp.volumes.settings import NEED_PLACES, RUN_PLACES, FleetSettings, SplitSettings
from writeamp.vssd.settings import SERVE_PLACES

LIBRARY = Path(__file__).parents[1] / "python/writeamp"
# Modules from which names in types are imported, in the order of imports.
MODULES = {
    "collections.abc": ("Sequence",),
    "pathlib": ("Path",),
    "typing": ("TypedDict",),
    "writeamp.devices.device": ("SizeLike",),
    "writeamp.devices.times": ("ChangesLike",),
    "writeamp.registry.specs": ("SpecLike",),
    "writeamp.settings.settings": ("Repeat", "TraceLike", "Warmup"),
    "writeamp.traces.words": ("Mapping",),
    "writeamp.units.ratios": ("RatioLike",),
}
# Parameters that the functions declare themselves, so they are not generated.
OWN = ("device", "workload")

# Type and help of arguments by name.
Keys: TypeAlias = dict[str, tuple[str, str]]


def generated() -> dict[Path, str]:
    """Return the generated files, one for each package, with their text."""
    verbs = {verb: keys_of(setting_places(verb)) for verb in ("simulate", "compare", "endurance")}
    first, *others = verbs.values()
    common = dict(item for item in first.items() if all(item in other.items() for other in others))
    need = keys_of(NEED_PLACES)
    return {
        LIBRARY / "studies/arguments.py": _file(
            "`simulate`, `compare` and `endurance`",
            _class("CommonArguments", "Keyword arguments of all three verbs", common),
            *(_class(f"{verb.title()}Arguments", f"Keyword arguments of `{verb}`", keys, common,
                     "CommonArguments") for verb, keys in verbs.items()),
        ),
        LIBRARY / "studies/blame/arguments.py": _file(
            "`blame`",
            _class("BlameArguments", "Keyword arguments of `blame`", keys_of(BLAME_PLACES)),
        ),
        LIBRARY / "theory/arguments.py": _file(
            "predictions",
            _class("PredictArguments", "Keyword arguments of `predict`",
                   keys_of(places_in((PredictionSettings,), "predict"))),
        ),
        LIBRARY / "volumes/arguments.py": _file(
            "functions of fleets",
            _class("MakeArguments", "Keyword arguments of `make`",
                   keys_of(places_in((FleetSettings,), "make"))),
            _class("SplitArguments", "Keyword arguments of `split`",
                   keys_of(places_in((SplitSettings,), "split"))),
            _class("NeedArguments", "Keyword arguments of `need`", need),
            _class("RunArguments", "Keyword arguments of `run` and `together`",
                   keys_of(RUN_PLACES), need, "NeedArguments"),
        ),
        LIBRARY / "vssd/arguments.py": _file(
            "`VirtualSsd`",
            _class("ServeArguments", "Keyword arguments of `VirtualSsd`", keys_of(SERVE_PLACES)),
        ),
        LIBRARY / "learn/blackbox/targets/arguments.py": _file(
            "targets",
            _class("TargetArguments", "Keyword arguments of `target_of`", keys_of(TARGET_PLACES)),
        ),
    }  # fmt: skip


def keys_of(places: Places) -> Keys:
    """Return the arguments for settings, with type and help."""
    return {
        name: (argument_type(field), help_of(field))
        for name, field in argument_fields(places).items()
        if name not in OWN
    }


def argument_type(field: Field[Any]) -> str:
    """Return the type of an argument, from the field's words, its domain, or its own type."""
    words = words_of(field)
    type_name = words.takes or getattr(field.metadata["domain"], "takes", "") or str(field.type)
    if words.number == "path" and not words.takes:
        type_name = "str | Path"
    is_optional = field.default is None and not words.required
    return f"{type_name} | None" if is_optional and "None" not in type_name else type_name


def _class(name: str, doc: str, keys: Keys, inherited: Keys | None = None, base: str = "") -> str:
    inherited_keys = inherited or {}
    own = {
        key: key_facts for key, key_facts in keys.items() if inherited_keys.get(key) != key_facts
    }
    lines = [f"class {name}({base or 'TypedDict'}, total=False):", f'    """{doc}."""']
    for key, (kind, text) in own.items():
        lines += ["", f"    {key}: {kind}", *_wrapped(text)]
    return "\n".join(lines)


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(f'"""{text}."""', 100, initial_indent=" " * 4, subsequent_indent=" " * 4)


def _file(of: str, *classes: str) -> str:
    body = "\n\n\n".join(classes)
    imports = _imports(body, MODULES)
    return (
        f'"""Keyword arguments of {of}, made by `make generate`."""\n\n'
        f"from __future__ import annotations\n\n{imports}\n\n\n{body}\n"
    )


def _imports(body: str, modules: Mapping[str, Sequence[str]]) -> str:
    types = "\n".join(re.findall(r"^(?:class .*|    \w+: .*)$", body, re.MULTILINE))
    lines = [
        f"from {module} import {', '.join(used)}"
        for module, names in modules.items()
        if (used := [name for name in names if re.search(rf"\b{name}\b", types)])
    ]
    at = sum(not line.startswith("from writeamp") for line in lines)
    return "\n".join([*lines[:at], *([""] if lines[at:] else []), *lines[at:]])
