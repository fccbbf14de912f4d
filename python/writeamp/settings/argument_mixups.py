"""Mix-ups of arguments: a workload or a trace that is given as the device, and the like."""

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


def check_mixups(given: Mapping[str, Any]) -> None:
    """Refuse a workload or trace given as the device, and a device or trace given as workload.

    What is merely unknown is the business of who reads it.

    Raises:
        WriteampError: it is known to be something else; the sentence says where that belongs.
    """
    for place, value in _devices_and_workloads(given):
        found = _mixup(value, place)
        if found is not None:
            kind, right = found
            raise WriteampError(
                f"{place} is {_quoted(value)}, which is {kind}: give it as {right} (--{right} on "
                "the command line)"
            )


def _devices_and_workloads(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield device and workload as given; comparisons take several of each."""
    for place in ("device", "workload"):
        value = given.get(place)
        for one in value if isinstance(value, list | tuple) else [value]:
            yield place, one


def _mixup(value: Any, place: str) -> tuple[str, str] | None:
    """Return the kind of a value that belongs to another argument, and that argument; else None."""
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
        return "a file but no profile" if place == "device" else "a file", "trace"
    return None


def _quoted(value: Any) -> str:
    """Return a value as an error quotes it; arrays and frames would fill a page."""
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
    except (OSError, ValueError):  # no name of a file at all
        return False
