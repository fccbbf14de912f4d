"""Run drives until they are worn out: arguments in, checked, lives out (docs/endurance.md)."""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Unpack

from writeamp import _engine, traces
from writeamp.device import Device, DeviceLike
from writeamp.errors import WriteampError
from writeamp.inputs import Overrides, TraceLike, check_count, check_load, prepare
from writeamp.life import Counts, Endurance, Lifetime
from writeamp.names import unknown
from writeamp.policy import Policy
from writeamp.run import (
    PRECONDITIONS,
    Progress,
    check_memory,
    fill_pages,
    load_of_trace,
    used_pages,
)

# The engine counts erases of a block in 32 bits, of which one value means "no limit".
_MOST_ERASES = 2**32 - 2
_MOST_REPLICAS = 2**32 - 1

# Passes over a trace: more than any drive outlives.
_WITHOUT_END = 2**63 - 1

# Between two looks at Ctrl-C and the progress.
_POLL_S = 0.1

# What the engine and the library keep of each replica, and of each number of erases in it.
_BYTES_PER_BLOCK = 16
_BYTES_PER_W = 24 * (2 + len(_engine.CAUSES))


def endurance(
    device: DeviceLike | None = None,
    workload: str | None = None,
    *,
    w_max: int,
    trace: TraceLike | None = None,
    manager: str = "single",
    victims: str | None = None,
    wear_leveling: str | None = None,
    replicas: int = 10,
    seed: int = 1,
    spare_share: float = 0.0,
    threads: int | None = None,
    precondition: str = "full",
    utilization: float = 1.0,
    mapping: traces.Mapping = "compact",
    trace_device: str | None = None,
    batch_pages: int = _engine.DEFAULT_BATCH_PAGES,
    progress: Progress | None = None,
    **overrides: Unpack[Overrides],
) -> Endurance:
    """Run replicas of a drive until they are worn out; measure how evenly and how long.

    The life of a drive ends when its first block has been erased `w_max` times, or, with spare
    blocks, when as many blocks have as there are spare ones, of one LUN in layouts where each LUN
    has its own (docs/endurance.md).

    Args:
        device: a profile's name, the path of a profile, or a device. Without one, a synthetic
            workload runs on "generic", and a trace on a flat drive sized to its footprint.
        workload: a workload spec such as "hot-cold:f=0.1,r=0.9"; "uniform" unless there is a trace.
        w_max: erases after which a block is worn out (the paper's W_max).
        trace: a trace file, a trace, or one already turned into pages; replayed without end.
        manager: block manager spec.
        victims: victim policy spec; the manager's own policy by default.
        wear_leveling: wear leveller spec; none by default.
        replicas: drives to run; the intervals are over them.
        seed: decides every random draw: replica i is the run with seed + i.
        spare_share: share of the drive's blocks (of each LUN's, unless the layout is "flat"),
            rounded down to whole blocks, that is set aside to replace worn ones. They are taken
            from the over-provisioning.
        threads: replicas that run at the same time; as many as there are processors by default.
            Changes speed, never the outcome.
        precondition: what is written once, in order, before the run: the "full" drive, the pages
            of the "workload" only, or "none". It wears nothing and is not counted.
        utilization: share of the logical pages that a synthetic workload, and the fill before it,
            use; the rest is never written and serves as spare space.
        mapping: how a trace's addresses become logical pages (docs/traces.md).
        trace_device: the only device of the trace to replay.
        batch_pages: pages handed to the engine at once; changes speed, never the outcome.
        progress: called from time to time with the erases of the most worn block, summed over the
            replicas, and what they will be in the end.
        overrides: what differs from the device profile: `blocks`, `logical_blocks` or
            `logical_pages`; `op`, `fill` or `spare_factor`; `pages_per_block`, `page_bytes`,
            `layout` (see `writeamp.device`).

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.
    """
    check_load(workload, trace, mapping=mapping, trace_device=trace_device, utilization=utilization)
    check_count("w_max", w_max, 1, _MOST_ERASES)
    check_count("replicas", replicas, 1, _MOST_REPLICAS)
    check_count("seed", seed, 0)
    check_count("batch_pages", batch_pages, 1)
    if threads is not None:
        check_count("threads", threads, 1)
    if not 0 <= spare_share < 1:
        raise WriteampError(f"spare_share is {spare_share}; it must be at least 0 and below 1")
    if precondition not in PRECONDITIONS:
        raise unknown("precondition", precondition, PRECONDITIONS)

    prepared = prepare(
        device, workload, trace, overrides, mapping=mapping, trace_device=trace_device
    )
    drive = prepared.drive
    spare_per_pool, pools = _spare_blocks(drive, spare_share)
    plan = Lifetime(
        device=drive,
        load=prepared.load,
        load_name=prepared.load_name,
        policy=Policy(manager, victims, wear_leveling),
        w_max=w_max,
        replicas=replicas,
        seed=seed,
        spare_share=spare_share,
        spare_blocks=spare_per_pool * pools,
        utilization=utilization,
        precondition=precondition,
        threads=min(threads or _processors(), replicas),
        notes=(*prepared.notes, *_spare_note(spare_share, spare_per_pool)),
    )
    _check_memory(plan)
    started = time.perf_counter()
    filled = fill_pages(plan.load, utilization, precondition, drive)
    engine = _build(plan, batch_pages, spare_per_pool, filled)
    lives = _run(engine, replicas * w_max, progress)
    return Endurance(
        plan=plan,
        end=Counts.of({name: table[:, 0] for name, table in lives["end"].items()}, filled),
        reached=Counts.of(lives["first_to_reach"], filled),
        erases_of_block=lives["erase_counts"],
        elapsed_s=time.perf_counter() - started,
    )


def _spare_blocks(drive: Device, share: float) -> tuple[int, int]:
    """Return the spare blocks of each pool, and the pools."""
    pools = 1 if drive.layout == "flat" else drive.geometry.luns
    # 0.29·100 is 28.999999999999996 in floating point: a hair below a whole number is that number.
    return math.floor(share * (drive.geometry.blocks // pools) * (1 + 1e-12)), pools


def _spare_note(share: float, spare_per_pool: int) -> list[str]:
    if share == 0 or spare_per_pool > 0:
        return []
    return [f"spare_share {share} is less than one block, so that no block is spare"]


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _check_memory(plan: Lifetime) -> None:
    drive = plan.device
    of_life = _BYTES_PER_BLOCK * drive.geometry.blocks + _BYTES_PER_W * plan.w_max
    at_once = plan.threads * drive.geometry.bytes_needed(drive.logical_pages)
    check_memory(
        f"{plan.threads} drive(s) at a time and the records of {plan.replicas} live(s) need",
        at_once + plan.replicas * of_life,
    )


def _build(plan: Lifetime, batch_pages: int, spare_per_pool: int, filled: int) -> _engine.Endurance:
    drive = plan.device
    if isinstance(plan.load, str):
        load = _engine.Load.spec(plan.load, used_pages(plan.load, plan.utilization, drive))
    else:
        load = load_of_trace(plan.load, passes=_WITHOUT_END)
    return _engine.Endurance(
        plan.policy.drive(drive),
        load,
        seed=plan.seed,
        batch_pages=batch_pages,
        w_max=plan.w_max,
        spare_blocks_per_pool=spare_per_pool,
        fill_pages=filled,
        replicas=plan.replicas,
        threads=plan.threads,
    )


def _run(engine: _engine.Endurance, expected: int, progress: Progress | None) -> _engine.Lives:
    # The engine works on a thread of its own, so that this one hears of Ctrl-C.
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.run)
        try:
            while wait([running], timeout=_POLL_S).not_done:
                if progress:
                    progress(engine.reached_erases(), expected)
        except BaseException:  # Ctrl-C: the pool would wait for the end of every life
            engine.cancel()
            raise
        lives = running.result()
    if progress:
        progress(engine.reached_erases(), expected)
    return lives
