"""Runs of a device back to back in virtual time, as the readings of the paper require."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from writeamp._engine import Load as EngineLoad
from writeamp._engine import TimedDevice, TimedRun
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.registry.specs import Spec
from writeamp.runners import stop_if_asked
from writeamp.runs.plan import Plan
from writeamp.runs.timed.device import ready
from writeamp.settings.settings import LoadSettings, SimulationSettings
from writeamp_papers.huang2011.devices import DISK, built, run_s

# Metrics in the paper's units: ms, MB/s of 2^20 bytes, and requests per second.
METRICS = ("latency", "bandwidth", "throughput")
UNITS = {"latency": "ms", "bandwidth": "MB/s", "throughput": "IO/s"}

_MIB = 1 << 20
_EVENTS = 1 << 16


@dataclass(frozen=True)
class Way:
    """Way in which runs are made under a reading (interpretation of the paper).

    Attributes:
        name: name of the way.
        erased: whether each run starts on a new drive.
        parts: number of parts into which the device is divided; a run accesses one part.
        align_bytes: alignment of random addresses in bytes; None for the size of the request.
        disk_cached: whether the disk's write cache is on.
        each_once: whether equal workloads of the grid run only once.
        at_times: whether traces are replayed at their times, instead of one request after another.
    """

    name: str
    erased: bool = False
    parts: int = 1
    align_bytes: int | None = None
    disk_cached: bool = True
    each_once: bool = False
    at_times: bool = True


WAYS = (
    Way("aged"),
    Way("fresh", erased=True),
    Way("short span", parts=16, align_bytes=512, disk_cached=False, each_once=True, at_times=False),
)


def way_on(device: str, way: Way) -> Way:
    """Return the way of making runs on a device.

    A disk has no state that could be erased, so it uses the way "aged" instead of "fresh".
    """
    return WAYS[0] if device == DISK and way.erased else way


@dataclass(frozen=True)
class Stretch:
    """Runs on one drive, one after another.

    Attributes:
        device: one of `devices.DEVICES`.
        way: how the runs are made.
        lead: workloads that run first, unmeasured.
        points: measured workloads.
        flash_bytes, disk_s: see `campaign.Form`.
        seed: seed of all random draws.
    """

    device: str
    way: Way
    lead: tuple[WorkloadPoint, ...]
    points: tuple[WorkloadPoint, ...]
    flash_bytes: int
    disk_s: float
    seed: int


def measured(stretch: Stretch) -> list[tuple[float, ...]]:
    """Return the metrics of each measured workload, in order.

    Raises:
        WriteampError: no request of a run was answered.
    """
    rows = list(_rows(stretch))
    return rows[len(stretch.lead) :]


def new_drive(device: Device, way: Way, seed: int) -> TimedDevice:
    """Return a device that is filled once in order, or an empty one if `way.erased`."""
    plan = Plan(
        load=Spec.of("workloads", "uniform"),
        load_name="uniform",
        host=LoadSettings(precondition="none" if way.erased else "full"),
        policy=Policy("single", None, None),
        run=SimulationSettings(seed=seed),
    )
    return ready(plan, device, pins=False, tick=stop_if_asked).engine


def _rows(stretch: Stretch) -> Iterator[tuple[float, ...]]:
    device = built(stretch.device, stretch.flash_bytes, disk_cached=stretch.way.disk_cached)
    seconds = run_s(stretch.device, stretch.flash_bytes, stretch.disk_s)
    run = None
    for number, point in enumerate(stretch.lead + stretch.points):
        load = _load(point, device, stretch.way, stretch.seed + number)
        seed, time_ns = stretch.seed + number, round(seconds * 1e9)
        if run is None or stretch.way.erased:
            run = TimedRun(
                new_drive(device, stretch.way, stretch.seed),
                load,
                seed=seed,
                page_bytes=device.page_bytes,
                time_ns=time_ns,
            )
        else:
            run.go_on(load, seed=seed, time_ns=time_ns)
        while not run.advance(_EVENTS):
            stop_if_asked()
        yield _metrics(run, seconds, point)


def _load(point: WorkloadPoint, device: Device, way: Way, seed: int) -> EngineLoad:
    """Return the requests of a workload on a part of the device that the seed selects."""
    spec, pages = point.spec, device.logical_pages
    if way.align_bytes is not None:
        spec = f"{spec},align={way.align_bytes}"
    if way.parts > 1:
        part_pages = pages // way.parts
        first = int(np.random.default_rng(seed).integers(pages - part_pages + 1))
        spec, pages = f"{spec},offset={first * device.page_bytes}", first + part_pages
    return EngineLoad.spec(spec, pages, device.page_bytes)


def _metrics(run: TimedRun, seconds: float, point: WorkloadPoint) -> tuple[float, ...]:
    served = [run.served(direction) for direction in ("read", "write")]
    requests = sum(served_kind["requests"] for served_kind in served)
    if not requests:
        raise WriteampError(f"no request of {point.spec} was answered within {seconds:g} s")
    waited_ms = (
        sum(served_kind["requests"] * (served_kind["mean_ns"] or 0.0) for served_kind in served)
        / 1e6
    )
    moved_bytes = sum(served_kind["bytes"] for served_kind in served)
    return waited_ms / requests, moved_bytes / _MIB / seconds, requests / seconds
