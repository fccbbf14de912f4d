"""Simulate a drive under a workload or a trace: arguments in, checked, result out."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from writeamp import _engine, traces
from writeamp.device import DeviceLike
from writeamp.errors import WriteampError
from writeamp.inputs import Overrides, TraceLike, check_count, check_load, prepare
from writeamp.names import unknown
from writeamp.policy import Policy
from writeamp.result import Result
from writeamp.run import PRECONDITIONS, Plan, Progress, Warmup, run, spread_over_sizes


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
    check_load(
        workload,
        trace,
        repeat=repeat,
        mapping=mapping,
        trace_device=trace_device,
        utilization=utilization,
    )
    check_count("repeat", repeat, 1)
    check_count("seed", seed, 0)
    check_count("batch_pages", batch_pages, 1)
    if writes is not None:
        check_count("writes", writes, 1)
    if warmup != "auto":
        check_count("warmup", warmup, 0)
    if not 0 < precision < 1:
        raise WriteampError(f"precision is {precision}; it must lie between 0 and 1")
    if precondition not in PRECONDITIONS:
        raise unknown("precondition", precondition, PRECONDITIONS)

    prepared = prepare(
        device, workload, trace, overrides, mapping=mapping, trace_device=trace_device
    )
    plan = Plan(
        load=prepared.load,
        load_name=prepared.load_name,
        policy=Policy(manager, victims, wear_leveling),
        seed=seed,
        writes=writes,
        warmup=warmup,
        precision=precision,
        precondition=precondition,
        utilization=utilization,
        repeat=repeat,
        batch_pages=batch_pages,
        notes=prepared.notes,
    )
    result = run(plan, prepared.drive, progress)
    if trace is None or not spread:
        return result
    return replace(result, spread=spread_over_sizes(plan, prepared.drive, result.wa))
