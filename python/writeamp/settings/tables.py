"""Conversion of settings to tables of plain values, for TOML and JSON, and back."""

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

# Settings that may be paths of files.
_PATHS = ("trace", "profile", "rb_capture")
# Settings that may be classes in Python files, with the kind of class.
_POLICIES: dict[str, EngineKind] = {
    "manager": "managers",
    "managers": "managers",
    "victims": "victims",
}
# Prefix of a precondition text whose rest is the path of a trace.
_AGED_BY = "aged:"


def table_of(settings: Settings) -> dict[str, Any]:
    """Return a table of all settings that are not None, including defaults."""
    return {
        field.name: plain(value)
        for field in fields(settings)  # type: ignore[arg-type]
        if (value := getattr(settings, field.name)) is not None
    }


def plain(value: Any) -> Any:
    """Return a value as a JSON type: specs as text, a trace in memory as its digest."""
    if isinstance(value, Spec):
        return value.text
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, HeldTrace):
        return {"digest": value.digest}
    if isinstance(value, Device):
        return value.to_dict()
    if isinstance(value, PerCent):  # stays text, since this op would be rejected as a number
        return value.text if value > MOST_PLAIN_OP else float(value)
    return str(value) if isinstance(value, Path) else value


def settings_of(kind: type[_S], table: Any, *, where: str) -> _S:
    """Return settings made from a table.

    Args:
        kind: group of settings.
        table: table as returned by `table_of`; settings may be missing.
        where: file and table, for errors.

    Raises:
        WriteampError: a key is unknown, or a value is invalid.
    """
    if not isinstance(table, dict):
        raise WriteampError(f"{where} is {shown(table)}; it must be a table of settings")
    valid = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    values = {}
    for key, value in table.items():
        if key not in valid:
            raise WriteampError(f"{where}.{key}: {unknown('key', key, valid)}")
        values[key] = _from_plain(f"{where}.{key}", value)
    try:
        return kind(**values)
    except WriteampError as error:
        raise WriteampError(f"{where}: {error}") from None


def _from_plain(where: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_from_plain(where, item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"digest"}:
        raise WriteampError(
            f"{where}: the trace was in memory, and only its digest was saved; give the path of a "
            "trace file"
        )
    try:
        return Device.from_dict(value)
    except TypeError:
        words = ", ".join(field.name for field in fields(Device) if field.default is MISSING)
        raise WriteampError(f"{where}: the device must have the keys {words}") from None


def moved(tables: dict[str, Any], source: Path, target: Path | None) -> dict[str, Any]:
    """Return tables with their relative paths changed to start at another folder.

    Args:
        tables: the tables of an experiment.
        source: folder at which the relative paths start now.
        target: folder at which the returned paths start; None for absolute paths.
    """
    converted = {}
    for title, table in tables.items():
        if not isinstance(table, dict):
            converted[title] = table
            continue
        converted[title] = {
            key: [_moved(key, item, source, target) for item in value]
            if isinstance(value, list)
            else _moved(key, value, source, target)
            for key, value in table.items()
        }
    return converted


def _moved(key: str, value: Any, source: Path, target: Path | None) -> Any:
    if key in _POLICIES and isinstance(value, str):
        return _moved_policies(_POLICIES[key], value, source, target)
    if key == "precondition" and isinstance(value, str) and value.startswith(_AGED_BY):
        return _AGED_BY + _moved("trace", value.removeprefix(_AGED_BY), source, target)
    if key not in _PATHS or not isinstance(value, str):
        return value
    return _moved_path(key, value, source, target)


def _moved_policies(kind: EngineKind, text: str, source: Path, target: Path | None) -> str:
    """Return one or several policies as text, with relative paths of files as in `moved`."""
    if custom.split_file(text)[0] is None:
        return text
    policies = []
    for spec in split_specs(kind, text):
        file, rest = custom.split_file(spec)
        policies.append(spec if file is None else _moved_path("trace", file, source, target) + rest)
    return ",".join(policies)


def _moved_path(key: str, value: str, source: Path, target: Path | None) -> Any:
    if key == "profile" and is_array(value):
        return with_members(value, lambda member: _moved(key, member, source, target))
    is_shipped = key == "profile" and not files_of(value)
    if is_shipped or is_address(value) or Path(value).is_absolute():
        return value
    if target is None:
        return Path(os.path.abspath(source / value)).as_posix()
    return Path(os.path.relpath(source / value, target)).as_posix()
