"""Settings as tables of plain values, which TOML and JSON can hold, and back."""

from __future__ import annotations

import os
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from writeamp import custom
from writeamp.devices.device import Device
from writeamp.devices.raid import files_of, is_array, with_members
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import PerCent, shown
from writeamp.fields.setting import Settings
from writeamp.files.inputs import is_address
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec, split_specs
from writeamp.settings.settings import HeldTrace
from writeamp.units.ratios import MOST_PLAIN_OP

_S = TypeVar("_S", bound=Settings)

# Fields that may name a file.
_PATHS = ("trace", "profile", "rb_capture")
# Fields that may name classes of files, and of which kind these are.
_POLICIES: dict[str, EngineKind] = {
    "manager": "managers",
    "managers": "managers",
    "victims": "victims",
}
# A precondition that names one.
_AGED_BY = "aged:"


def table_of(settings: Settings) -> dict[str, Any]:
    """Return every setting that has a value, defaults included."""
    return {
        one.name: plain(value)
        for one in fields(settings)  # type: ignore[arg-type]
        if (value := getattr(settings, one.name)) is not None
    }


def plain(value: Any) -> Any:
    """Return a value as JSON has it: specs as their text, a trace in memory as its digest."""
    if isinstance(value, Spec):
        return value.text
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, HeldTrace):
        return {"digest": value.digest}
    if isinstance(value, Device):
        return value.to_dict()
    if isinstance(value, PerCent):  # an op of so much would not be taken for one as a number
        return value.text if value > MOST_PLAIN_OP else float(value)
    return str(value) if isinstance(value, Path) else value


def settings_of(kind: type[_S], table: Any, *, where: str) -> _S:
    """Return the settings that a table holds.

    Args:
        kind: which settings.
        table: what `table_of` gives, or part of it.
        where: the file and the table in it, for errors.

    Raises:
        WriteampError: a key that is none of the settings', or a value outside its domain.
    """
    if not isinstance(table, dict):
        raise WriteampError(f"{where} is {shown(table)}; it must be a table of settings")
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    values = {}
    for key, value in table.items():
        if key not in known:
            raise WriteampError(f"{where}.{key}: {unknown('key', key, known)}")
        values[key] = _from_plain(f"{where}.{key}", value)
    try:
        return kind(**values)
    except WriteampError as error:
        raise WriteampError(f"{where}: {error}") from None


def _from_plain(where: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_from_plain(where, one) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"digest"}:
        raise WriteampError(
            f"{where}: the trace was in memory and only its digest is here; give the path of a file"
        )
    try:
        return Device.from_dict(value)
    except TypeError:
        words = ", ".join(one.name for one in fields(Device) if one.default is MISSING)
        raise WriteampError(f"{where}: a device needs the keys {words}") from None


def moved(tables: dict[str, Any], source: Path, target: Path | None) -> dict[str, Any]:
    """Return tables whose paths are written as seen from another folder.

    Args:
        tables: the tables of an experiment.
        source: the folder that the paths are relative to.
        target: the folder that they shall be relative to; None for absolute paths.
    """
    found = {}
    for title, table in tables.items():
        if not isinstance(table, dict):
            found[title] = table
            continue
        found[title] = {
            key: [_moved(key, one, source, target) for one in value]
            if isinstance(value, list)
            else _moved(key, value, source, target)
            for key, value in table.items()
        }
    return found


def _moved(key: str, value: Any, source: Path, target: Path | None) -> Any:
    if key in _POLICIES and isinstance(value, str):
        return _moved_policies(_POLICIES[key], value, source, target)
    if key == "precondition" and isinstance(value, str) and value.startswith(_AGED_BY):
        return _AGED_BY + _moved("trace", value.removeprefix(_AGED_BY), source, target)
    if key not in _PATHS or not isinstance(value, str):
        return value
    return _moved_path(key, value, source, target)


def _moved_policies(kind: EngineKind, text: str, source: Path, target: Path | None) -> str:
    """Return a policy, or a list of them, whose files are named as seen from another folder."""
    if custom.split_file(text)[0] is None:
        return text
    found = []
    for one in split_specs(kind, text):
        file, rest = custom.split_file(one)
        found.append(one if file is None else _moved_path("trace", file, source, target) + rest)
    return ",".join(found)


def _moved_path(key: str, value: str, source: Path, target: Path | None) -> Any:
    if key == "profile" and is_array(value):
        return with_members(value, lambda one: _moved(key, one, source, target))
    is_shipped = key == "profile" and not files_of(value)
    if is_shipped or is_address(value) or Path(value).is_absolute():
        return value
    if target is None:
        return Path(os.path.abspath(source / value)).as_posix()
    return Path(os.path.relpath(source / value, target)).as_posix()
