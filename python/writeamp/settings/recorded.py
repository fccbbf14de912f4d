"""Settings from a trace that the virtual drive recorded, in the place of defaults.

The drive, its policy and its seed are those that served the requests, so that a replay comes to the
same counters. What is given otherwise counts.
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
from writeamp.traces.recorded import KEPT, Recorded
from writeamp.units.byte_sizes import shown_bytes

Table = Mapping[str, Any]

_SIZES = ("size", "blocks", "logical_blocks", "logical_pages")
# With these, as many bytes of the host are another number of blocks.
_RESHAPING = ("op", "fill", "spare_factor", "pages_per_block", "page_bytes")


def with_recorded(verb: str, tables: Mapping[str, Table]) -> Mapping[str, Table]:
    """Return the settings of an experiment, completed by what its trace says of its drive.

    Args:
        verb: what the experiment is for.
        tables: by title, the settings that are given; a value of None is not.

    Raises:
        WriteampError: what the trace says is not valid, or the drive cannot serve its requests.
    """
    load = _given(tables["load"])
    found = _recorded_in(load)
    if found is None or load.get("mapping", "as-is") != "as-is":
        return tables
    name, recorded = found
    if recorded.precondition == KEPT and "precondition" not in load:
        raise WriteampError(
            f"{name} was recorded on a drive that had been used before, so that its counters do "
            "not follow from the requests; say by --precondition in which state to begin"
        )
    run = {"seed": recorded.policy["seed"]}
    # A drive that may be any of several has policies of its own.
    is_learnt = candidates_in(_given(tables["device"])) is not None
    shaped = _sized if is_learnt else _device
    if verb == "simulate":
        run["warmup"] = 0  # what the drive served before is not among the requests that count
    return {
        **tables,
        "device": shaped(name, recorded, tables["device"]),
        "load": {"mapping": "as-is", "precondition": recorded.precondition} | load,
        "policy": tables["policy"] if is_learnt else _policy(recorded, tables["policy"]),
        "run": run | _given(tables["run"]),
    }


def is_recording(load: LoadSettings) -> bool:
    """Return whether a load is the requests of one recording, in the order and at the places."""
    asked = {"trace": load.trace, "trace_format": load.trace_format}
    return load.trace is not None and load.mapping == "as-is" and _recorded_in(asked) is not None


@dataclass(frozen=True)
class CountedRequests:
    """Requests of a recording that count, and those that its drive served before."""

    trace: traces.Trace
    before: traces.Trace | None
    notes: tuple[str, ...]


def counted(trace: traces.Trace | traces.PageTrace | traces.Given) -> CountedRequests | None:
    """Return the requests that counted on the recorded drive; None of other traces.

    Raises:
        WriteampError: none of them writes, or the trace has fewer requests.
    """
    if not isinstance(trace, traces.Trace) or trace.recorded is None:
        return None
    first, requests = trace.recorded.count_from_request, trace.requests
    if first > requests.height:
        raise WriteampError(
            f"{trace.path}: counts from request {first} on, but holds {requests.height}"
        )
    earlier, later = requests[:first], requests[first:]
    if not _writes(later):
        raise WriteampError(
            f"{trace.path}: no request writes of those that count, which begin after {first}; "
            "give --mapping compact to replay it as a trace like any other"
        )
    if not _writes(earlier):
        # The engine takes no host that never writes, and they programmed nothing.
        return CountedRequests(trace, None, ())
    note = f"the first {first} requests are not counted, as they were not on the recorded drive"
    fua = (None, None) if trace.fua is None else (trace.fua[:first], trace.fua[first:])
    return CountedRequests(
        replace(trace, requests=later, fua=fua[1]),
        replace(trace, requests=earlier, fua=fua[0]),
        (note,),
    )


def _writes(requests: Any) -> bool:
    return bool((requests["op"] == "write").any())


def _given(table: Table) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def _recorded_in(load: Table) -> tuple[str, Recorded] | None:
    trace = load.get("trace")
    if isinstance(trace, list | tuple):
        # Several traces share a drive, so each is replayed as one like any other.
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
    """Return the settings of a drive that shows its host what was recorded."""
    original = _original(name, recorded)
    given = _given(table)
    profile = given.pop("profile", original)
    if isinstance(profile, dict):
        profile = Device.from_dict(profile)
    if profile == original.name:
        profile = original
    is_sized = isinstance(profile, Device) and not any(key in given for key in _RESHAPING)
    if not is_sized and not any(key in given for key in _SIZES):
        given["size"] = original.capacity_bytes
    drive = build_device(profile, **given)
    if drive.kind != "flash":
        raise WriteampError(
            f"{name} is a recording of a flash drive, and {drive.name} is a {drive.kind}; give "
            "--mapping compact to replay it as a trace like any other"
        )
    if drive.capacity_bytes != original.capacity_bytes:
        raise WriteampError(
            f"{name} was recorded on a drive of {shown_bytes(original.capacity_bytes)}, and this "
            f"one has {shown_bytes(drive.capacity_bytes)}; give it the same size, or none"
        )
    return {"profile": replace(drive, is_timed_by_default=recorded.timed)}


def _sized(name: str, recorded: Recorded, table: Table) -> Table:
    """Return the settings of a drive that is known by candidates, in the size that was recorded."""
    given, capacity_bytes = _given(table), _original(name, recorded).capacity_bytes
    asked = [key for key in _SIZES if key in given]
    if asked and (asked != ["size"] or SIZE.check("size", given["size"]) != capacity_bytes):
        raise WriteampError(
            f"{name} was recorded on a drive of {shown_bytes(capacity_bytes)}; give the learnt one "
            "the same size, or none"
        )
    return {**given, "size": capacity_bytes}


def _original(name: str, recorded: Recorded) -> Device:
    try:
        drive = Device.from_dict(recorded.device)
        has_tables = all(isinstance(one, dict) for one in tables_of(drive.times_json).values())
        is_built = has_tables and drive.physical_pages > drive.logical_pages > 0
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        is_built = False
    if not is_built:
        raise WriteampError(
            f"{name}: the device in the metadata of the recording is no flash drive"
        )
    return drive


def _policy(recorded: Recorded, table: Table) -> Table:
    """Return the policy; a manager that is given brings its own victims."""
    given = _given(table)
    found = {"wear_leveling": recorded.policy.get("wear_leveling")}
    if "managers" not in given and "manager" not in given:
        found |= {key: recorded.policy.get(key) for key in ("manager", "victims")}
    return _given(found | given)
