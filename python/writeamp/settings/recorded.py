"""Defaults of settings from a trace that a virtual drive recorded.

Drive, policy and seed are taken from the recorded drive, so that a replay gives the same counters.
Settings that the user gives override them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from writeamp import traces
from writeamp.devices.device import SIZE, Device
from writeamp.devices.device import device as build_device
from writeamp.devices.times import tables_of
from writeamp.errors import WriteampError
from writeamp.settings.learnt import candidates_in
from writeamp.settings.settings import HeldTrace, LoadSettings
from writeamp.text import Detail
from writeamp.traces.recorded import KEPT, Recorded
from writeamp.units.byte_sizes import shown_bytes

Table = Mapping[str, Any]

_SIZES = ("size", "blocks", "logical_blocks", "logical_pages")
# Settings that change the number of blocks for a given logical size.
_RESHAPING = ("op", "fill", "spare_factor", "pages_per_block", "page_bytes")


def with_recorded(verb: str, tables: Mapping[str, Table]) -> Mapping[str, Table]:
    """Return the settings of an experiment, completed by settings recorded in its trace.

    Returns `tables` if the load is not a recording, or is mapped by another rule than "as-is".

    Args:
        verb: function that runs the experiment, such as "simulate".
        tables: the given settings by title of their group; None means not given.

    Raises:
        WriteampError: the recorded settings are invalid, or the drive cannot serve the requests.
    """
    load = _given(tables["load"])
    recording = _recorded_in(load)
    if recording is None or load.get("mapping", "as-is") != "as-is":
        return tables
    name, recorded = recording
    if recorded.precondition == KEPT and "precondition" not in load:
        raise WriteampError(
            f"{name} was recorded on a used drive whose initial state is unknown; give the state "
            "to "
            "begin with by --precondition"
        )
    run = {"seed": recorded.policy["seed"]}
    # A drive learnt as candidates has policies of its own, so the recorded policy is not used.
    is_learnt = candidates_in(_given(tables["device"])) is not None
    shaped = _sized if is_learnt else _device
    if verb == "simulate":
        run["warmup"] = 0  # writes before counting began are replayed separately
    return {
        **tables,
        "device": shaped(name, recorded, tables["device"]),
        "load": {"mapping": "as-is", "precondition": recorded.precondition} | load,
        "policy": tables["policy"] if is_learnt else _policy(verb, recorded, tables["policy"]),
        "run": run | _given(tables["run"]),
    }


def is_recording(load: LoadSettings) -> bool:
    """Return whether a load replays one recording, in its order and at its addresses."""
    source = {"trace": load.trace, "trace_format": load.trace_format}
    return load.trace is not None and load.mapping == "as-is" and _recorded_in(source) is not None


@dataclass(frozen=True)
class CountedRequests:
    """Requests of a recording: `trace` has the counted ones, `uncounted` those before counting."""

    trace: traces.Trace
    uncounted: traces.Trace | None
    notes: tuple[str, ...]


def counted(trace: traces.Trace | traces.PageTrace | traces.TraceData) -> CountedRequests | None:
    """Return the requests that the recorded drive counted; None for other traces.

    Raises:
        WriteampError: no counted request is a write, or the trace ends before counting begins.
    """
    if not isinstance(trace, traces.Trace) or trace.recorded is None:
        return None
    first, requests = trace.recorded.count_from_request, trace.requests
    if first > requests.height:
        raise WriteampError(
            f"{trace.path}: counting begins at request {first}, but the trace has "
            f"{requests.height} requests"
        )
    earlier, later = requests[:first], requests[first:]
    if not _writes(later):
        raise WriteampError(
            f"{trace.path}: no counted request, after the first {first}, is a write; "
            "give --mapping compact to replay it as an ordinary trace"
        )
    if not _writes(earlier):
        # The engine rejects a load without writes. The earlier requests do not change the drive, so
        # they are left out.
        return CountedRequests(trace, None, ())
    note = f"the first {first} requests are replayed but not counted, as on the recorded drive"
    fua = (None, None) if trace.fua is None else (trace.fua[:first], trace.fua[first:])
    tags = None if trace.tags is None else trace.tags[first:]
    return CountedRequests(
        replace(trace, requests=later, fua=fua[1], tags=tags),
        replace(trace, requests=earlier, fua=fua[0], tags=None, tag_names=None),
        (note,),
    )


def _writes(requests: Any) -> bool:
    return bool((requests["op"] == "write").any())


def _given(table: Table) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def _recorded_in(load: Table) -> tuple[str, Recorded] | None:
    trace = load.get("trace")
    if isinstance(trace, list | tuple):
        # Several traces run on the same drive in a comparison, so each is replayed as an ordinary
        # trace.
        trace = trace[0] if len(trace) == 1 else None
    if isinstance(trace, HeldTrace):
        trace = trace.trace
    if isinstance(trace, traces.Trace):
        return None if trace.recorded is None else (trace.path, trace.recorded)
    kind = load.get("trace_format")
    is_parquet = kind is None or (isinstance(kind, str) and kind == "parquet")
    if not isinstance(trace, str | Path) or not is_parquet:
        return None
    from writeamp.traces.formats.parquet import recorded_in  # noqa: PLC0415 (slow)

    recorded = recorded_in(trace)
    return None if recorded is None else (str(trace), recorded)


def _device(name: str, recorded: Recorded, table: Table) -> Table:
    """Return the settings of a drive with the recorded logical size."""
    original = _original(name, recorded)
    settings = _given(table)
    profile = settings.pop("profile", original)
    if isinstance(profile, dict):
        profile = Device.from_dict(profile)
    if profile == original.name:
        profile = original
    is_sized = isinstance(profile, Device) and not any(key in settings for key in _RESHAPING)
    if not is_sized and not any(key in settings for key in _SIZES):
        settings["size"] = original.capacity_bytes
    drive = build_device(profile, **settings)
    if drive.kind != "flash":
        raise WriteampError(
            f"{name} was recorded on a flash drive, but {drive.name} is a {drive.kind}; give "
            "--mapping compact to replay it as an ordinary trace"
        )
    if drive.capacity_bytes != original.capacity_bytes:
        raise WriteampError(
            f"{name} was recorded on a drive of {shown_bytes(original.capacity_bytes)}, but this "
            f"drive has {shown_bytes(drive.capacity_bytes)}; give the same size, or leave it out"
        )
    return {"profile": replace(drive, is_timed_by_default=recorded.timed)}


def _sized(name: str, recorded: Recorded, table: Table) -> Table:
    """Return the settings of a learnt drive (with candidates), in the recorded size."""
    settings, capacity_bytes = _given(table), _original(name, recorded).capacity_bytes
    sizes = [key for key in _SIZES if key in settings]
    if sizes and (sizes != ["size"] or SIZE.check("size", settings["size"]) != capacity_bytes):
        raise WriteampError(
            f"{name} was recorded on a drive of {shown_bytes(capacity_bytes)}; give the learnt "
            "drive the same size, or leave it out"
        )
    return {**settings, "size": capacity_bytes}


def _original(name: str, recorded: Recorded) -> Device:
    try:
        drive = Device.from_dict(recorded.device)
        has_tables = all(isinstance(times, dict) for times in tables_of(drive.times_json).values())
        is_built = has_tables and drive.physical_pages > drive.logical_pages > 0
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        is_built = False
    if not is_built:
        raise WriteampError(
            f"{name}: the device in the metadata of the recording is not a valid flash drive"
        )
    # They state how the recorded drive differs from its profile, not what this run changes.
    return replace(drive, shrunk=tuple(map(Detail, drive.shrunk)))


def _policy(verb: str, recorded: Recorded, table: Table) -> Table:
    """Return the recorded policy; a given manager also replaces the recorded victim policy.

    A comparison does not use the recorded manager: it compares those that are given.
    """
    settings = _given(table)
    policy = {"wear_leveling": recorded.policy.get("wear_leveling")}
    if verb != "compare" and "manager" not in settings:
        policy |= {key: recorded.policy.get(key) for key in ("manager", "victims")}
    return _given(policy | settings)
