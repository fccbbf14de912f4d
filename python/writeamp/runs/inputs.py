"""Inputs of a run: the drive, and a workload or a trace, converted to pages of the drive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device
from writeamp.errors import RefusedError, WriteampError
from writeamp.fio.workload import notes_of_jobs
from writeamp.registry.declarations import ZONED
from writeamp.registry.specs import Spec
from writeamp.runs.loads import drive_writes_of_jobs
from writeamp.runs.plan import used_pages
from writeamp.settings.device import DeviceSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.precondition import Precondition
from writeamp.settings.recorded import CountedRequests, counted
from writeamp.settings.settings import (
    EnduranceSettings,
    HeldTrace,
    LoadSettings,
    SimulationSettings,
)
from writeamp.traces.recorded import CountingWindow
from writeamp.traces.tagging import hints_of
from writeamp.units.durations import shown_duration

# Minimum number of blocks of a drive that is fitted to a trace; shorter traces are rejected.
_FEWEST_FITTED_BLOCKS = 4
_STREAM = re.compile(r"stream\([^)]*\)")
# If rounding to whole blocks changes op by more than this share, a note is given.
_MATERIAL_ROUNDING = 0.02


@dataclass(frozen=True)
class PreparedRun:
    """Drive, its load (a workload, or a trace in pages), and notes on assumptions.

    `earlier` is the trace that ages the drive before the run, if any. If the trace of the run was
    recorded on a virtual drive, `is_recorded` is True and all requests of `load` are measured;
    `uncounted` has the requests that this drive served before its counters started. In a timed run
    of a recorded trace, `load` has all requests, and `window` is the time span in which the drive
    counted.
    """

    drive: Device
    load: Spec | traces.PageTrace
    load_name: str
    notes: tuple[str, ...]
    earlier: traces.PageTrace | None = None
    uncounted: traces.PageTrace | None = None
    is_recorded: bool = False
    window: CountingWindow | None = None
    warnings: tuple[str, ...] = ()


def prepare(experiment: Experiment) -> PreparedRun:
    """Build the drive, and convert the trace, if any, into pages of it.

    Without a device, a synthetic workload (by default "uniform") runs on "generic", and a trace
    runs on a flat drive sized to its footprint.
    """
    device, load_settings = experiment.device, experiment.load
    load: Spec | traces.PageTrace
    uncounted = recorded = None
    window: CountingWindow | None = None
    if load_settings.trace is None:
        drive = build_device(device.base, **device.overrides())
        load = Spec.of("workloads", load_settings.workload or "uniform")
        load_name = load_settings.fio_name or load.text
        notes = list(notes_of_jobs(load_settings.fio, load_settings.fio_run))
    else:
        requests = _hinted(_read(load_settings), load_settings)
        recorded = counted(requests) if load_settings.mapping == "as-is" else None
        window = None if recorded is None else _window(requests, experiment)
        replayed = recorded.trace if recorded and window is None else requests
        drive, load = _fit_trace(replayed, device, load_settings, with_reads=experiment.is_timed)
        if window is not None:
            load = _at_its_times(load, requests)
        load_name = _trace_name(requests)
        notes = [*_notes_of(requests, is_timed=experiment.is_timed), *load.notes]
        if window is not None:
            notes.append(_note_of_window(window))
        elif recorded is not None:
            notes += recorded.notes
            uncounted = _before(recorded, drive)
    earlier, earlier_notes = _earlier(load_settings, drive, load)
    notes += _note_of_candidates(experiment)
    notes += [*drive.shrunk, *_rounding_note(drive, device), *earlier_notes]
    return PreparedRun(
        drive,
        load,
        load_name,
        tuple(notes),
        earlier,
        uncounted,
        is_recorded=recorded is not None,
        window=window,
        warnings=(*_of_units(drive, load), *_of_jobs(experiment, drive, load)),
    )


def _of_units(drive: Device, load: Spec | traces.PageTrace) -> list[str]:
    """Return a warning if large requests of a workload reach mapping units page by page."""
    if drive.pages_per_unit == 1 or not isinstance(load, Spec) or load.name not in ZONED:
        return []
    return [
        f"with mapping_unit, each page of {load.name} counts as a request of its own, although its "
        "requests are larger; read-modify-write is overestimated, and WA per host byte is an upper "
        "bound"
    ]


def _of_jobs(experiment: Experiment, drive: Device, load: Spec | traces.PageTrace) -> Iterator[str]:
    """Yield warnings on the drive writes of fio jobs, and on a drive that sprandom finds full."""
    if not isinstance(load, Spec) or load.name != "fio":
        return
    host = experiment.load
    writes = drive_writes_of_jobs(load, used_pages(load, host, drive), drive)
    made = "do not end by themselves"
    if writes is not None:
        number = f"{writes:.3g}"
        made = f"make {number} drive write{'' if number == '1' else 's'}"
    same = ""
    if writes is not None and host.repeat != 1 and _repeats_order(load):
        same = (
            ", each time with the same random addresses in the same order, as fio does without "
            "randrepeat=0"
        )
    yield f"the fio jobs {made}; they are run {_until(experiment)}{same}"
    # A scaled workload states all parameters, also those that the jobs lack.
    is_sprandom = "spr_op=" in load.text.replace("spr_op=none", "")
    if is_sprandom and (host.precondition != "none" or host.repeat != 1):
        yield (
            "sprandom prepares an empty drive, but this drive is not empty before each run of the "
            "jobs; use --precondition none and --repeat 1"
        )


def _repeats_order(load: Spec) -> bool:
    """Return whether each run of fio jobs draws the same random addresses."""
    streams = _STREAM.findall(load.text)
    return any("random=1" in text and "seeding=fresh" not in text for text in streams)


def _until(experiment: Experiment) -> str:
    """Return what ends a run of fio jobs, in words."""
    run, times = experiment.run, experiment.load.repeat
    if isinstance(run, EnduranceSettings):
        return "again and again until the drive is worn out"
    if times != "auto":
        return "once" if times == 1 else f"{times} times"
    is_open = isinstance(run, SimulationSettings) and not (run.writes or run.host_bytes or run.time)
    return f"again and again {'until WA is steady' if is_open else 'for the length of the run'}"


def _note_of_candidates(experiment: Experiment) -> list[str]:
    """Return a note if only the most probable candidate of a learnt profile is run."""
    if experiment.candidates is None:
        return []
    return [experiment.candidates.note_of_best(experiment.device.profile)]


def _read(load: LoadSettings) -> traces.Trace | traces.PageTrace | traces.TraceData:
    if isinstance(load.trace, HeldTrace):
        return load.trace.trace
    assert load.trace is not None
    origins = load.hints_by is not None
    return traces.read(load.trace, load.trace_format, action=load.action, origins=origins)


def _hinted(
    trace: traces.Trace | traces.PageTrace | traces.TraceData, load: LoadSettings
) -> traces.Trace | traces.PageTrace | traces.TraceData:
    """Return the trace with its placement hints as tags, unless it has tags."""
    if isinstance(trace, traces.TraceData) and trace.has_column("hint"):
        trace = traces.of(trace)
    if isinstance(trace, traces.Trace):
        if trace.tags is not None:
            return trace
        hints = hints_of(trace, load.hints_by, load.trace_device)
        if hints is None:
            return trace
        return replace(trace, tags=hints.codes, tag_names=hints.names, are_tags_hints=True)
    if load.hints_by is not None:
        raise WriteampError(
            "hints_by needs a trace of bytes, whose requests have origins; give the traces.Trace"
        )
    return trace


def _notes_of(
    trace: traces.Trace | traces.PageTrace | traces.TraceData, *, is_timed: bool
) -> list[str]:
    """Return notes on how a trace was read, and doubts; on its timestamps only for timed runs."""
    if not isinstance(trace, traces.Trace):
        return []
    return [*(trace.warnings if is_timed else trace.doubts), *trace.notes]


def _window(requests: object, experiment: Experiment) -> CountingWindow | None:
    """Return the time span in which a recorded drive counted, if the run should count the same.

    Returns None for untimed runs, and for runs with their own time, writes, warm-up or repeats.
    """
    run, load_settings = experiment.run, experiment.load
    assert isinstance(requests, traces.Trace)
    assert requests.recorded is not None
    if not experiment.is_timed or not isinstance(run, SimulationSettings):
        return None
    is_whole = run.time is None and run.host_bytes is None and run.writes is None
    if not is_whole or run.warmup != 0 or load_settings.repeat not in ("auto", 1):
        return None
    return requests.recorded.window


def _at_its_times(load: traces.PageTrace, requests: object) -> traces.PageTrace:
    """Return the requests with times in ns since the start of the recorded drive."""
    assert isinstance(requests, traces.Trace)
    assert load.at_ns is not None
    first_ns = int(requests.requests["timestamp_ns"].min())  # type: ignore[arg-type]
    return replace(load, at_ns=load.at_ns + first_ns)


def _note_of_window(window: CountingWindow) -> str:
    return (
        "requests come at the times of the recorded drive, and the run counts what that drive "
        f"counted: from {shown_duration(window.from_ns / 1e9)} to "
        f"{shown_duration(window.until_ns / 1e9)} after its start"
    )


def _before(recorded: CountedRequests, drive: Device) -> traces.PageTrace | None:
    """Return the requests from before the recorded drive's counters started, in pages."""
    if recorded.uncounted is None:
        return None
    return traces.to_pages(
        recorded.uncounted, drive.page_bytes, mapping="as-is", logical_pages=drive.logical_pages
    )


def _earlier(
    load_settings: LoadSettings, drive: Device, load: Spec | traces.PageTrace
) -> tuple[traces.PageTrace | None, list[str]]:
    """Return the trace that ages the drive, in pages of the drive, and notes on its mapping."""
    path = Precondition.of(load_settings.precondition).trace
    if path is None:
        return None, []
    if not isinstance(load, Spec) and load_settings.trace == path:
        return load, []
    trace = traces.read(
        path, load_settings.trace_format, action=load_settings.action, origins=False
    )
    pages = traces.to_pages(
        trace,
        drive.page_bytes,
        mapping=load_settings.mapping,
        device=load_settings.trace_device,
        # The trace is mapped to the pages that the workload uses. Other pages would never be
        # written again, so data in them would keep the drive too full.
        logical_pages=used_pages(load, load_settings, drive)
        if isinstance(load, Spec)
        else drive.logical_pages,
    )
    name = Path(trace.path).name
    notes = [f"{name}: {note}" for note in (*trace.doubts, *trace.notes, *pages.notes)]
    if load_settings.mapping == "compact" and not isinstance(load, Spec):
        notes.append(
            f"{name}, which ages the drive, is mapped compact by its own addresses, so that equal "
            "addresses in it and in the run's trace may be different pages; --mapping as-is keeps "
            "addresses"
        )
    return pages, notes


def _rounding_note(drive: Device, device: DeviceSettings) -> list[str]:
    """Return a note if rounding to whole blocks and pages changes op by over 2%."""
    wanted_op = device.asked_op
    if wanted_op is None or drive.kind != "flash":
        return []
    if abs(drive.op / wanted_op - 1) <= _MATERIAL_ROUNDING:
        return []
    return [
        f"op is {drive.op:.4g} instead of {wanted_op:.4g}, because drives have whole blocks; a "
        "smaller pages_per_block comes closer to the requested op"
    ]


def _fit_trace(
    trace: traces.Trace | traces.PageTrace | traces.TraceData,
    device: DeviceSettings,
    load: LoadSettings,
    *,
    with_reads: bool,
) -> tuple[Device, traces.PageTrace]:
    """Convert a trace into pages of the drive; without a given size, fit the drive to the trace."""
    # The drive has no size yet, but only its page size is needed here.
    page = {"page_bytes": device.page_bytes, "mapping_unit": device.mapping_unit}
    overrides = device.overrides() if device.is_sized else page
    profile = build_device(device.base, **overrides)
    if profile.host_page_bytes and isinstance(trace, traces.TraceData):
        raise WriteampError(
            "mapping_unit needs a trace in bytes; give its requests by traces.of, or as a file"
        )
    if isinstance(trace, traces.Trace | traces.TraceData):
        pages = traces.to_pages(
            trace,
            profile.page_bytes,
            mapping=load.mapping,
            device=load.trace_device,
            logical_pages=profile.logical_pages if device.is_sized else None,
            with_reads=with_reads,
            tag_names=trace.tag_names if isinstance(trace, traces.Trace) else None,
            tags=trace.tags if isinstance(trace, traces.Trace) else None,
        )
        if isinstance(trace, traces.Trace):
            pages = replace(pages, are_tags_hints=trace.are_tags_hints)
    else:
        pages = trace
        as_read = (load.mapping, load.trace_device) == ("compact", None)
        if not as_read or pages.page_bytes != profile.page_bytes:
            raise WriteampError(
                f"the trace is already in pages of {pages.page_bytes} bytes; give mapping, "
                "trace_device and page_bytes to traces.to_pages instead"
            )
    if not device.is_sized:
        return _fitted(pages, device, profile.pages_per_unit), pages
    if pages.logical_pages > profile.logical_pages:
        raise RefusedError(
            f"the trace needs {pages.logical_pages} logical pages but the drive has "
            f"{profile.logical_pages}; use a larger drive, or omit the drive's size to fit the "
            "drive to the trace"
        )
    return profile, pages


def _fitted(pages: traces.PageTrace, device: DeviceSettings, pages_per_unit: int) -> Device:
    """Return the flat drive with as many logical pages as the trace writes distinct pages."""
    size = {"logical_pages": pages.logical_pages * pages_per_unit}
    drive = build_device("generic", **(device.overrides() | size))
    if drive.geometry.blocks < _FEWEST_FITTED_BLOCKS:
        raise RefusedError(
            f"the trace writes only {pages.footprint_pages} distinct pages, which fit into "
            f"{drive.geometry.blocks} blocks of {drive.pages_per_block} pages; use smaller "
            "pages_per_block, or give the drive a size"
        )
    return drive


def _trace_name(trace: traces.Trace | traces.PageTrace | traces.TraceData) -> str:
    return Path(trace.path).name or "trace"
