"""Fit of the drives of paper 2 (Huang et al. 2011) to its figures and its text.

A row is a statement of the paper on Figs. 3 to 7, as an interval for a computed value. Run
`.venv/bin/python papers/benches/fit_huang2011.py` to print the value of the profiles in each row,
and its distance from the interval. `--fit DEVICE` searches the free parameters of a device.
`--means` prints computed means beside those of the paper's tables as a test. Three values were
fitted to such means: the profile of SSD_A, the host's time per request (to SSD_I's throughput) and
the disk's queue (to its latency). `--shared` prints the latter two means for each value tried.

All measurements are in the drive state that the paper describes (section IV.A). A drive is filled
once in order. Then the runs of the grid and the runs of the figures follow each other without
reset, a minute each. Drives are scaled down to `_SIZE_BYTES`, and the minute in proportion, so that
a run writes the same share of its drive.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

import writeamp as wa
from writeamp._engine import Load, TimedRun
from writeamp.devices.device import Device, profile_op
from writeamp.devices.profile import profile
from writeamp.learn.blackbox.space import KIB, WorkloadPoint
from writeamp.units.ratios import physical_of
from writeamp_papers.huang2011.devices import DEVICES, DISK, with_host
from writeamp_papers.huang2011.printed import BASIC, EXTENDED
from writeamp_papers.huang2011.runs import METRICS, WAYS, new_drive
from writeamp_papers.huang2011.workloads import some_cells

_SIZE_BYTES = 4 << 30
_LEAST_CACHE_BYTES = 1 << 20
_MINUTE_S = 60.0
# A disk has no state, so its runs can be shorter.
_DISK_RUN_S = 20.0
# Sequential workloads start in a random zone of a disk, so each has several runs.
_DISK_RUNS = 5
_CELLS = 100
_SIZES_KIB = (1, 4, 16, 64, 256)
_DEPTHS = (1, 4, 16, 64)
_STRIDES_KIB = (1, 64)

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """Metrics of a run in the paper's units: ms, MB/s (of 2^20 bytes), and requests per second."""

    latency: float
    bandwidth: float
    throughput: float


class Bench:
    """A filled device that executes runs back to back."""

    def __init__(self, built: Device, run_s: float) -> None:
        """Fill the device."""
        self._built, self._run_s, self._runs = built, run_s, 0
        self._engine = new_drive(built, WAYS[0], seed=1)
        self._run: TimedRun | None = None

    def see(self, point: WorkloadPoint) -> Seen:
        """Run a workload for a scaled minute after all earlier runs, and return its metrics."""
        page_bytes, time_ns = self._built.page_bytes, round(self._run_s * 1e9)
        load = Load.spec(point.spec, self._built.logical_pages, page_bytes)
        self._runs += 1
        if self._run is None:
            self._run = TimedRun(
                self._engine, load, seed=self._runs, page_bytes=page_bytes, time_ns=time_ns
            )
        else:
            self._run.go_on(load, seed=self._runs, time_ns=time_ns)
        while not self._run.advance(1 << 20):
            pass
        begin_ns, end_ns = self._run.interval_ns()
        served = [self._run.served(kind) for kind in ("read", "write")]
        requests = sum(served_kind["requests"] for served_kind in served)
        if requests == 0:
            return Seen(float("inf"), 0.0, 0.0)
        sums_ns = sum(
            (served_kind["mean_ns"] or 0.0) * served_kind["requests"] for served_kind in served
        )
        seconds = (end_ns - begin_ns) / 1e9
        moved_bytes = sum(served_kind["bytes"] for served_kind in served)
        return Seen(sums_ns / requests / 1e6, moved_bytes / seconds / 2**20, requests / seconds)


def _bench(name: str, changes: Changes, size_bytes: int) -> Bench:
    """Return a new device of a profile; a drive is scaled, with its cache and the minute."""
    built = wa.device(name)
    values = with_host(name) | {key: value for key, value in changes.items() if key != "op"}
    if built.kind == "disk":
        return Bench(wa.device(name, set=values), _DISK_RUN_S)
    first = name.removeprefix("raid0:").partition(",")[0]
    shape = profile(first).shape
    share = physical_of(size_bytes, profile_op(first)) / (shape.physical_pages * shape.page_bytes)
    cache_bytes = (shape.times or {})["write_cache"]["bytes"]
    scaled = wa.device(
        name,
        size=size_bytes * max(1, len(built.members)),
        op=changes.get("op"),
        write_cache=max(_LEAST_CACHE_BYTES, int(share * cache_bytes) // 2**20 * 2**20),
        set=values,
    )
    return Bench(scaled, _MINUTE_S * share)


def _point(
    write: float, kib: int, *, random: float = 1.0, stride_kib: int = 0, depth: int = 1
) -> WorkloadPoint:
    size, stride = kib * KIB, stride_kib * KIB
    return WorkloadPoint(write, depth, size, size, random, random, stride, stride)


_PATTERNS = {
    "random": (1.0, 0),
    "sequential": (0.0, 0),
    **{f"stride {kib}": (0.0, kib) for kib in _STRIDES_KIB},
}
# Share of writes, access pattern, request size in KiB and queue depth.
_Key = tuple[float, str, int, int]
_Figures = Mapping[_Key, Seen]


def _keys() -> list[_Key]:
    """Return the workloads of Figs. 3 to 7."""
    ratios = [(write, "random", 256, 1) for write in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)]
    depths = [(write, "random", 256, depth) for write in (0.0, 1.0) for depth in _DEPTHS]
    sizes = [
        (write, pattern, kib, 1)
        for write in (0.0, 1.0)
        for pattern in _PATTERNS
        for kib in _SIZES_KIB
    ]
    return list(dict.fromkeys([*ratios, *depths, *sizes]))


def _figures(device: str, changes: Changes | None = None) -> dict[_Key, Seen]:
    """Run some cells of the grid, then the workloads of the figures."""
    bench = _bench(DEVICES[device], changes or {}, _SIZE_BYTES)
    for point in some_cells(_CELLS):
        bench.see(point)
    runs = _DISK_RUNS if device == DISK else 1
    metrics = {}
    for write, pattern, kib, depth in _keys():
        random, stride_kib = _PATTERNS[pattern]
        point = _point(write, kib, random=random, stride_kib=stride_kib, depth=depth)
        seen = [astuple(bench.see(point)) for _ in range(runs)]
        metrics[write, pattern, kib, depth] = Seen(*np.mean(seen, axis=0).tolist())
    return metrics


@dataclass(frozen=True)
class Row:
    """Statement on a figure: the value computed with the profiles, and the paper's interval."""

    name: str
    value: float
    least: float = -np.inf
    most: float = np.inf

    @property
    def residual(self) -> float:
        """Distance of the value from the interval, as a share of the nearer end; 0 inside."""
        if self.value < self.least:
            return self.least / self.value - 1
        return max(0.0, self.value / self.most - 1)


_READ, _WRITE = 0.0, 1.0
_Of = Mapping[str, _Figures]


def _straightness(values: Sequence[float]) -> float:
    """Return R² of the best straight line through values over the request sizes."""
    return float(np.corrcoef(_SIZES_KIB, values)[0, 1] ** 2)


def _rows(of: _Of) -> list[Row]:
    """Return the statements on Figs. 3 to 7 that determine parameters of the devices."""
    disk, fast, slow = of["HDD_S"], of["SSD_I"], of["SSD_S"]
    drives = {"SSD_I": fast, "SSD_S": slow}
    mixed = (0.1, "random", 256, 1)
    rows = []
    for name, metrics in drives.items():
        rows += [
            Row(f"F3-2 {name}: ms at 90% reads", metrics[mixed].latency, 1.5, 2.5),
            Row(f"F3-3 {name}: MB/s at 90% reads", metrics[mixed].bandwidth, 99.5, 150.5),
            Row(
                f"F3-4 HDD_S over {name}: latency at 90% reads",
                disk[mixed].latency / metrics[mixed].latency,
                3.75,
                6.25,
            ),
        ]
    rows.append(Row("F3-5 HDD_S: MB/s at 90% reads", disk[mixed].bandwidth, 15.0, 25.0))
    for name, metrics in of.items():
        for write, word in ((_READ, "reads"), (_WRITE, "writes")):
            seen = [metrics[write, "random", 256, depth] for depth in _DEPTHS]
            rows += [
                Row(
                    f"F4-1 {name}: latency at 64 over 1, {word}",
                    seen[-1].latency / seen[0].latency,
                    2,
                ),
                Row(
                    f"F4-3, -4 {name}: bandwidth at 64 over 16, {word}",
                    seen[-1].bandwidth / seen[-2].bandwidth,
                    0.8,
                    1.25,
                ),
            ]
    for depth in _DEPTHS:
        ms = [metrics[_WRITE, "random", 256, depth].latency for metrics in (fast, disk, slow)]
        rows += [
            Row(f"F4-2 HDD_S over SSD_I: writes at depth {depth}", ms[1] / ms[0], 1),
            Row(f"F4-2 SSD_S over HDD_S: writes at depth {depth}", ms[2] / ms[1], 1),
        ]
    for name, metrics in of.items():
        ms = [metrics[_WRITE, "random", kib, 1].latency for kib in _SIZES_KIB]
        rows.append(Row(f"F5-2 {name}: R² of writes over size", _straightness(ms), 0.95))
    for kib in _SIZES_KIB:
        reads = [metrics[_READ, "random", kib, 1].latency for metrics in (slow, fast)]
        writes = [metrics[_WRITE, "random", kib, 1].latency for metrics in (slow, fast, disk)]
        rows += [
            Row(f"F5-3 SSD_S over HDD_S: writes of {kib} KiB", writes[0] / writes[2], 1),
            Row(f"F5-9 SSD_S over SSD_I: reads of {kib} KiB", reads[0] / reads[1], 0.8, 1.25),
            Row(f"F5-10 SSD_S over SSD_I: writes of {kib} KiB", writes[0] / writes[1], 2),
        ]
    for stride in _STRIDES_KIB:
        for kib in _SIZES_KIB:
            for name, metrics in drives.items():
                writes = [
                    metrics[_WRITE, p, kib, 1].latency for p in (f"stride {stride}", "sequential")
                ]
                reads = [metrics[_READ, p, kib, 1].latency for p in (f"stride {stride}", "random")]
                what = f"stride of {stride} KiB, {kib} KiB"
                rows += [
                    Row(f"F6-4 {name}: writes, {what}", writes[0] / writes[1], 0.75, 1.25),
                    Row(f"F6-5 {name}: reads, {what}", reads[0] / reads[1], 0.75, 1.25),
                ]
            for write, word in ((_READ, "reads"), (_WRITE, "writes")):
                ms = [
                    disk[write, p, kib, 1].latency
                    for p in ("sequential", f"stride {stride}", "random")
                ]
                rows += [
                    Row(
                        f"F6-6 HDD_S: {word}, stride of {stride} KiB over sequential, {kib} KiB",
                        ms[1] / ms[0],
                        1,
                    ),
                    Row(
                        f"F6-6 HDD_S: {word}, random over stride of {stride} KiB, {kib} KiB",
                        ms[2] / ms[1],
                        1,
                    ),
                ]
    for kib in _SIZES_KIB:
        rates = [disk[_READ, p, kib, 1].throughput for p in ("sequential", "random")]
        rows.append(Row(f"F7-1 HDD_S: reads of {kib} KiB", rates[0] / rates[1], 10))
    return rows


# Free parameters: their bounds, and the profile's values that depend on them. Values printed in
# Table I stay: reads of 4 KiB in 85 µs (SSD_I), writes of 80 MB/s (SSD_S).
_Follows = Callable[[float], Changes]
_UNIT_BYTES = 128 * KIB
_FREE: Mapping[str, Mapping[str, tuple[float, float, _Follows]]] = {
    "SSD_I": {
        "mean timing.program_us": (
            450,
            1100,
            lambda us: {"timing.program_us": [0.4 * us, 1.6 * us]},
        ),
        "bus.channel_mb_s": (
            130,
            280,
            lambda rate: {"bus.channel_mb_s": rate, "timing.read_us": 40.2 - 4 * KIB / rate},
        ),
    },
    "SSD_S": {
        "management.op": (0.07, 0.28, lambda op: {"op": op}),
        "bus.channel_mb_s": (
            160,
            500,
            lambda rate: {
                "bus.channel_mb_s": rate,
                "timing.program_us": _UNIT_BYTES / 80 - _UNIT_BYTES / rate,
            },
        ),
    },
    "HDD_S": {
        "disk.write_segments": (8, 64, lambda count: {"disk.write_segments": round(count)}),
    },
}
_STEPS, _ROUNDS = 5, 3


def _fit(device: str) -> None:
    """Search one parameter after another; each round searches a third of the previous range."""
    of = {name: _figures(name) for name in _FREE if name != device}

    def loss(values: Mapping[str, float]) -> float:
        changes: dict[str, Any] = {}
        for name, value in values.items():
            changes |= _FREE[device][name][2](value)
        rows = _rows({**of, device: _figures(device, changes)})
        return sum(min(row.residual, 1.0) ** 2 for row in rows)

    best = {name: (least + most) / 2 for name, (least, most, _) in _FREE[device].items()}
    for turn in range(_ROUNDS):
        for name, (least, most, _) in _FREE[device].items():
            half = (most - least) / 2 / 3**turn
            tried = np.clip(np.linspace(best[name] - half, best[name] + half, _STEPS), least, most)
            losses = {float(value): loss({**best, name: float(value)}) for value in tried}
            best[name] = min(losses, key=lambda value: losses[value])
            print(f"{device} {name}: {best[name]:.4g} of {least:g} to {most:g}, loss "
                  f"{losses[best[name]]:.3f}", flush=True)  # fmt: skip


def _show_rows() -> None:
    """Print every row that determines a device, and its distance from the interval."""
    rows = _rows({name: _figures(name) for name in _FREE})
    for row in rows:
        print(f"{row.name:70s} {row.value:9.3f}  {row.least:g} to {row.most:g}  {row.residual:.3f}")
    print(f"{sum(row.residual > 0 for row in rows)} of {len(rows)} values are outside the interval")


# Device, metric and values tried of each parameter that was fitted to a mean of Table II.
_SHARED: Sequence[tuple[str, str, list[Changes]]] = (
    ("SSD_I", "throughput", [with_host("x25-m", us * 1000) for us in range(0, 121, 20)]),
    ("HDD_S", "latency", [{"host.depth": 2**power} for power in range(6)]),
)


def _show_shared(cells: int) -> None:
    """Print a mean of the grid's cells for each value tried of a parameter, and the print."""
    for device, metric, tried in _SHARED:
        for changes in tried:
            bench = _bench(DEVICES[device], changes, _SIZE_BYTES)
            ours = np.mean([getattr(bench.see(point), metric) for point in some_cells(cells)])
            printed = BASIC[metric][device].mean
            print(f"{device} {metric}: {ours:.1f}, printed {printed:g}, with {changes}", flush=True)


def _show_means(cells: int) -> None:
    """Print the means of the grid's cells beside those of Tables II, III, V and VI."""
    for device, name in DEVICES.items():
        bench = _bench(name, {}, _SIZE_BYTES)
        seen = [bench.see(point) for point in some_cells(cells)]
        for metric in METRICS:
            ours = float(np.mean([getattr(run_metrics, metric) for run_metrics in seen]))
            printed = sorted({table[metric][device].mean for table in (BASIC, EXTENDED)})
            ratios = ", ".join(
                f"{value:g} (computed ÷ printed: {ours / value:.2f})" for value in printed
            )
            print(f"{device} {metric}: computed {ours:.2f}; printed {ratios}", flush=True)


def main() -> None:
    """Run the requested functions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fit", choices=_FREE, help="search the free parameters of this device, and print the best"
    )
    parser.add_argument(
        "--means",
        type=int,
        metavar="CELLS",
        help="print mean metrics of this number of workloads of the grid, beside the printed means",
    )
    parser.add_argument(
        "--shared",
        type=int,
        metavar="CELLS",
        help="print the mean of this number of workloads for each value of a fitted parameter",
    )
    arguments = parser.parse_args()
    if arguments.fit:
        _fit(arguments.fit)
    elif arguments.shared:
        _show_shared(arguments.shared)
    elif arguments.means:
        _show_means(arguments.means)
    else:
        _show_rows()


if __name__ == "__main__":
    main()
