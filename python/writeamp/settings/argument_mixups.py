"""Detection of swapped arguments, such as a workload given as the device."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from writeamp import traces
from writeamp.devices.profile import profile_names
from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.registry.entries import engine_entries
from writeamp.registry.specs import Spec

_PROFILE_SUFFIX = ".toml"
_TABLES = ("__array__", "__arrow_c_stream__", "__dataframe__")


def check_mixups(settings: Mapping[str, Any]) -> None:
    """Reject a workload or trace given as the device, and a device or trace given as workload.

    Unknown names pass here; the function that reads them rejects them.

    Raises:
        WriteampError: a value belongs to another argument, which the message names.
    """
    for place, value in _devices_and_workloads(settings):
        mixup = _mixup(value, place)
        if mixup is not None:
            kind, right = mixup
            raise WriteampError(
                f"{place} is {_quoted(value)}, which is {kind}; give it as {right} (--{right} on "
                "the command line)"
            )


def _devices_and_workloads(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the given devices and workloads; a comparison may have several of each."""
    for place in ("device", "workload"):
        value = settings.get(place)
        for item in value if isinstance(value, list | tuple) else [value]:
            yield place, item


def _mixup(value: Any, place: str) -> tuple[str, str] | None:
    """Return the kind of a misplaced value and the argument that it belongs to, or None."""
    is_text = isinstance(value, str)
    if place == "device" and _is_workload(value):
        return "a workload", "workload"
    if is_text and place == "workload" and value in profile_names():
        return "a device", "device"
    if isinstance(value, traces.Trace | traces.PageTrace) or any(
        hasattr(value, name) for name in _TABLES
    ):
        return "a trace", "trace"
    if (is_text or isinstance(value, os.PathLike)) and _is_trace_file(value, place):
        return "a file but not a profile" if place == "device" else "a file", "trace"
    return None


def _quoted(value: Any) -> str:
    """Return a value as text for an error; for arrays and frames, only the type."""
    is_short = isinstance(value, str | os.PathLike | Spec)
    return shown(value) if is_short else f"of the type {type(value).__name__}"


def _is_workload(value: Any) -> bool:
    if isinstance(value, Spec):
        return value.kind == "workloads"
    if not isinstance(value, str) or value in profile_names():
        return False
    name = value.partition(":")[0].partition("(")[0].strip()
    return name in {entry.name for entry in engine_entries("workloads")}


def _is_trace_file(value: str | os.PathLike[str], place: str) -> bool:
    path = Path(value)
    if place == "device" and path.suffix.lower() == _PROFILE_SUFFIX:
        return False
    try:
        return path.is_file()
    except (OSError, ValueError):  # the text is not a valid file name
        return False
