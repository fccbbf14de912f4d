"""What is run: the drive, and a workload or a trace that fits it; arguments in, checked, out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypedDict

import numpy as np

from writeamp import traces
from writeamp.device import Device, DeviceLike
from writeamp.device import device as build_device
from writeamp.errors import WriteampError
from writeamp.ratios import op_of

# The engine counts in 64 bits; seeds use all of them but one, as all other numbers do.
_MOST = 2**63 - 1

# Below this a drive fitted to a trace is no drive; and an op rounded by more than this is another.
_FEWEST_FITTED_BLOCKS = 4
_MATERIAL_ROUNDING = 0.02

TraceLike: TypeAlias = str | Path | traces.Trace | traces.PageTrace


class Overrides(TypedDict, total=False):
    """What differs from the device profile; see `writeamp.device`."""

    blocks: int | None
    logical_blocks: int | None
    logical_pages: int | None
    pages_per_block: int | None
    page_bytes: int | None
    op: float | None
    fill: float | None
    spare_factor: float | None
    layout: str | None


@dataclass(frozen=True)
class Prepared:
    """A drive, what its host does (a workload spec, or a trace in pages), and what was assumed."""

    drive: Device
    load: str | traces.PageTrace
    load_name: str
    notes: tuple[str, ...]


def check_count(name: str, value: int, least: int, most: int = _MOST) -> None:
    """Refuse what is not a whole number from `least` to `most`."""
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        raise WriteampError(
            f"{name} is {value!r}; it must be a whole number from {least} to {most}"
        )


def check_load(
    workload: str | None,
    trace: TraceLike | None,
    *,
    mapping: traces.Mapping,
    trace_device: str | None,
    utilization: float,
    repeat: int = 1,
) -> None:
    """Refuse arguments that contradict each other about what the host writes."""
    if trace is not None and workload is not None:
        raise WriteampError("workload and trace each say what the host writes; give only one")
    if trace is None and repeat != 1:
        raise WriteampError("repeat is for traces; a synthetic workload has no end")
    if trace is None and (mapping != "compact" or trace_device is not None):
        raise WriteampError("mapping and trace_device are for traces; there is no trace")
    if trace is not None and utilization != 1:
        raise WriteampError("utilization is for synthetic workloads; a trace says what it uses")
    if not 0 < utilization <= 1:
        raise WriteampError(f"utilization is {utilization}; it must be above 0 and at most 1")


def prepare(
    device: DeviceLike | None,
    workload: str | None,
    trace: TraceLike | None,
    overrides: Overrides,
    *,
    mapping: traces.Mapping,
    trace_device: str | None,
) -> Prepared:
    """Build the drive, and turn the trace, if there is one, into pages of it.

    Without a device, a synthetic workload ("uniform" without a name) runs on "generic", and a trace
    on a flat drive sized to its footprint.
    """
    load: str | traces.PageTrace
    if trace is None:
        drive = build_device(device or "generic", **overrides)
        load = load_name = workload or "uniform"
        notes: list[str] = []
    else:
        requests = traces.read(trace) if isinstance(trace, str | Path) else trace
        drive, load = _fit_trace(requests, device, overrides, mapping, trace_device)
        load_name = _trace_name(requests)
        notes = [*(requests.notes if isinstance(requests, traces.Trace) else []), *load.notes]
    notes += _rounding_note(drive, overrides)
    return Prepared(drive, load, load_name, tuple(notes))


def _rounding_note(drive: Device, overrides: Overrides) -> list[str]:
    """Return a note if whole blocks and pages make another op than was asked for."""
    wanted_op = op_of(
        op=overrides.get("op"),
        fill=overrides.get("fill"),
        spare_factor=overrides.get("spare_factor"),
    )
    if wanted_op is None or abs(drive.op / wanted_op - 1) <= _MATERIAL_ROUNDING:
        return []
    return [
        f"whole blocks make op {drive.op:.4g}, not the {wanted_op:.4g} asked for; fewer "
        "pages_per_block come closer"
    ]


def _fit_trace(
    trace: traces.Trace | traces.PageTrace,
    device: DeviceLike | None,
    overrides: Overrides,
    mapping: traces.Mapping,
    trace_device: str | None,
) -> tuple[Device, traces.PageTrace]:
    """Turn a trace into pages; size the drive to its footprint unless a size is given."""
    sizes = (overrides.get(name) for name in ("blocks", "logical_blocks", "logical_pages"))
    sized = device is not None or any(size is not None for size in sizes)
    # Of a drive that is yet to be sized, only the page size is known.
    known: Overrides = overrides if sized else {"page_bytes": overrides.get("page_bytes")}
    profile = build_device(device or "generic", **known)
    if isinstance(trace, traces.Trace):
        pages = traces.to_pages(
            trace,
            profile.page_bytes,
            mapping=mapping,
            device=trace_device,
            logical_pages=profile.logical_pages if sized else None,
        )
    else:
        pages = trace
        if (mapping, trace_device) != ("compact", None) or pages.page_bytes != profile.page_bytes:
            raise WriteampError(
                f"the trace is in pages of {pages.page_bytes} bytes already; mapping, trace_device "
                "and page_bytes belong to traces.to_pages"
            )
    if not sized:
        fitted: Overrides = {**overrides, "logical_pages": pages.logical_pages}
        fitted_drive = build_device("generic", **fitted)
        if fitted_drive.geometry.blocks < _FEWEST_FITTED_BLOCKS:
            raise WriteampError(
                f"the trace writes only {pages.footprint_pages} distinct pages, which "
                f"{fitted_drive.geometry.blocks} blocks of {fitted_drive.pages_per_block} pages "
                "hold; use fewer pages_per_block, or give the drive a size"
            )
        return fitted_drive, pages
    if pages.logical_pages > profile.logical_pages:
        raise WriteampError(
            f"the trace needs {pages.logical_pages} logical pages but the drive has "
            f"{profile.logical_pages}; use a larger drive, or give no size to fit it to the trace"
        )
    return profile, pages


def _trace_name(trace: traces.Trace | traces.PageTrace) -> str:
    return Path(trace.path).name if isinstance(trace, traces.Trace) else "trace"
