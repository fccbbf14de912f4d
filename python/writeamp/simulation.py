"""Simulate a drive under a workload or a trace: arguments in, checked, result out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

import numpy as np

from writeamp import _engine, traces
from writeamp.device import Device, DeviceLike
from writeamp.device import device as build_device
from writeamp.errors import WriteampError
from writeamp.names import unknown
from writeamp.ratios import op_of
from writeamp.result import Result
from writeamp.run import PRECONDITIONS, Plan, Progress, Warmup, run, spread_over_sizes

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


def simulate(
    device: DeviceLike | None = None,
    workload: str | None = None,
    *,
    trace: TraceLike | None = None,
    manager: str = "single",
    victims: str | None = None,
    wear_leveling: str | None = None,
    seed: int = 1,
    writes: int | None = None,
    warmup: Warmup = "auto",
    precision: float = 0.0005,
    precondition: str = "full",
    utilization: float = 1.0,
    repeat: int = 1,
    mapping: traces.Mapping = "compact",
    trace_device: str | None = None,
    spread: bool = True,
    batch_pages: int = _engine.DEFAULT_BATCH_PAGES,
    progress: Progress | None = None,
    **overrides: Unpack[Overrides],
) -> Result:
    """Simulate a page-mapped drive and measure its steady write amplification.

    Args:
        device: a profile's name, the path of a profile, or a device. Without one, a synthetic
            workload runs on "generic", and a trace on a flat drive sized to its footprint.
        workload: a workload spec such as "hot-cold:f=0.1,r=0.9"; "uniform" unless there is a trace.
        trace: a trace file, a trace, or one already turned into pages.
        manager: block manager spec.
        victims: victim policy spec; the manager's own policy by default.
        wear_leveling: wear leveller spec; none by default.
        seed: decides every random draw; the same seed gives the same counters everywhere.
        writes: host page writes after the initial fill. Without it, a synthetic workload runs
            until it is steady and its confidence interval is narrower than ±`precision`, and a
            trace runs to its end.
        warmup: host page writes to leave out, or "auto" (docs/steady-state.md).
        precision: relative half width of the 95% confidence interval that ends an automatic run.
        precondition: what is written once, in order, before the run: the "full" drive, the pages
            of the "workload" only, or "none".
        utilization: share of the logical pages that a synthetic workload, and the fill before it,
            use; the rest is never written and serves as spare space.
        repeat: how often a trace is replayed.
        mapping: how a trace's addresses become logical pages (docs/traces.md).
        trace_device: the only device of the trace to replay.
        spread: rerun a trace on drives one block (in each plane) smaller and larger.
        batch_pages: pages handed to the engine at once; changes speed, never the outcome.
        progress: called from time to time with the host pages written and expected.
        overrides: what differs from the device profile: `blocks`, `logical_blocks` or
            `logical_pages`; `op`, `fill` or `spare_factor`; `pages_per_block`, `page_bytes`,
            `layout` (see `writeamp.device`).

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.
    """
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
    _at_least("repeat", repeat, 1)
    _at_least("seed", seed, 0)
    _at_least("batch_pages", batch_pages, 1)
    if writes is not None:
        _at_least("writes", writes, 1)
    if warmup != "auto":
        _at_least("warmup", warmup, 0)
    if not 0 < precision < 1:
        raise WriteampError(f"precision is {precision}; it must lie between 0 and 1")
    if precondition not in PRECONDITIONS:
        raise unknown("precondition", precondition, PRECONDITIONS)

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
    plan = Plan(
        load=load,
        load_name=load_name,
        manager=manager,
        asked_victims=victims,
        wear_leveling=wear_leveling,
        seed=seed,
        writes=writes,
        warmup=warmup,
        precision=precision,
        precondition=precondition,
        utilization=utilization,
        repeat=repeat,
        batch_pages=batch_pages,
        notes=tuple(notes),
    )
    result = run(plan, drive, progress)
    if trace is None or not spread:
        return result
    return replace(result, spread=spread_over_sizes(plan, drive, result.wa))


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


def _at_least(name: str, value: int, least: int) -> None:
    if not isinstance(value, int | np.integer) or not least <= value <= _MOST:
        raise WriteampError(
            f"{name} is {value!r}; it must be a whole number from {least} to {_MOST}"
        )


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
