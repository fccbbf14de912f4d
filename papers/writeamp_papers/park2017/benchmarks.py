"""Park et al. 2017, Fig. 5: file-system benchmarks beside a cold file, on the virtual drive.

Two loads are programs of ours with Filebench's operations, one is sysbench on PostgreSQL, and a fio
job replaces Cassandra. Sizes are scaled to the drive, and each run has four drive writes or more.
Only full reproductions run them, because they need root and other programs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from writeamp.devices.device import device
from writeamp.errors import WriteampError
from writeamp.files.temporary import temporary_folder
from writeamp.machine.programs import require
from writeamp.vssd.mount import check_mount
from writeamp.vssd.virtual_ssd import VirtualSsd
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Item, at_most, ordered
from writeamp_papers.park2017 import cassandra, figures, sysbench_oltp
from writeamp_papers.park2017.file_loads import FILESERVER, VARMAIL

# The drive has the paper's number of superblocks (within 1%) and op. Its pages have 4 KiB, because
# the file system's 4 KiB writes would cover larger pages only partly. Its size lets all runs end
# within half an hour.
DRIVE = device("samsung-843tn", size="512MiB", page_bytes=4096, pages_per_block=152)
UTILIZATIONS = (0.6, 0.7, 0.8, 0.9)
PRINTED_MOST = 1.2

_GIB, _MIB = 2**30, 2**20
SHARE = DRIVE.capacity_bytes / (215 * _GIB)

# Every run has at least four drive writes. The first two loads have no printed run length: they
# write these multiples of the drive's capacity to files. For synchronised mail messages, the file
# system's journal triples the writes. The others repeat the printed run length.
_FILESERVER_WRITES, _VARMAIL_WRITES = 4.1, 1.6
_OLTP_REPEATS, _CASSANDRA_REPEATS = 11, 8


class Load(Protocol):
    """Load of file operations: makes its files in a folder, then runs on them."""

    def prepared(self, folder: Path) -> AbstractContextManager[Callable[[], None]]:
        """Make the files; yield a function that runs the load."""


class Benchmark(NamedTuple):
    """Benchmark of Fig. 5: a load, its name and its requirements.

    Attributes:
        name: name of the benchmark in items and figures.
        load: the load.
        missing: returns the required programs that are not installed.
        later_bytes: growth of the load's files during the run, in bytes. The cold file is smaller
            by this, so that the utilization is right.
    """

    name: str
    load: Load
    missing: Callable[[], list[str]]
    later_bytes: int = 0


class Measured(NamedTuple):
    """Measurement of a load on a drive: WA, and host bytes divided by the drive's capacity."""

    wa: float
    drive_writes: float


def benchmarks() -> list[Benchmark]:
    """Return the loads of Table 5; a fio job replaces Cassandra.

    Numbers of files, records and requests are scaled to the capacity of `DRIVE`. Sizes of files and
    numbers of threads are those of the paper.
    """
    size, store = DRIVE.capacity_bytes, cassandra.cassandra(SHARE, _CASSANDRA_REPEATS)
    return [
        Benchmark("fileserver", FILESERVER.scaled(SHARE, _FILESERVER_WRITES * size), list),
        Benchmark("varmail", VARMAIL.scaled(SHARE, _VARMAIL_WRITES * size), list),
        Benchmark(
            "sysbench OLTP on PostgreSQL",
            sysbench_oltp.oltp(SHARE, _OLTP_REPEATS),
            sysbench_oltp.missing,
        ),
        Benchmark("replacement of Cassandra", store, cassandra.missing, store.later_bytes),
    ]


def run(bench: Bench) -> Findings:
    """Run each load at each utilization if `bench` is full; report loads that cannot run here."""
    if not bench.full:
        return Findings()
    measurements: dict[str, dict[float, Measured]] = {}
    skipped: list[str] = []
    for benchmark in benchmarks():
        lacking = _lacking(benchmark)
        if lacking:
            skipped.append(f"Fig. 5, {benchmark.name}: {lacking}")
            bench.step(f"skipped: {skipped[-1]}")
            continue
        measurements[benchmark.name] = {}
        for utilization in UTILIZATIONS:
            bench.step(f"{benchmark.name} at utilization {utilization:.0%} (Fig. 5)")
            measurements[benchmark.name][utilization] = measured(benchmark, utilization)
    items = [item for name, by in measurements.items() for item in judged(name, by)]
    if not (measurements and bench.figures):
        return Findings(items, skipped=skipped)
    values = {
        name: {at: measurement.wa for at, measurement in by.items()}
        for name, by in measurements.items()
    }
    figure = figures.benchmarks(DRIVE, values, PRINTED_MOST)
    return Findings(items, {"fig5-benchmarks": figure}, skipped)


def measured(benchmark: Benchmark, utilization: float) -> Measured:
    """Return the measurement of a load on a new drive, beside a cold file.

    The cold file sets the utilization. Only the load counts; the cold file and the creation of the
    load's files do not.
    """
    with temporary_folder() as place:
        os.chmod(place, 0o755)  # The database runs as another user.
        point = place / "mnt"
        with VirtualSsd(DRIVE, mount=point) as drive:
            files = point / "files"
            files.mkdir()
            with benchmark.load.prepared(files) as run_load:
                space = os.statvfs(point)
                full = utilization * space.f_blocks - (space.f_blocks - space.f_bfree)
                write_cold(point / "cold", full * space.f_frsize - benchmark.later_bytes)
                drive.begin()
                run_load()
                result = drive.result()
    return Measured(result.wa, result.host_bytes / DRIVE.capacity_bytes)


def judged(name: str, measurements: Mapping[float, Measured]) -> list[Item]:
    """Return items on a load's WA over the utilization of the file system."""
    least, most = min(measurements), max(measurements)
    return [
        *(
            at_most(
                f'Fig. 5: {name}, utilization {utilization:.0%} ("does not exceed 1.2")',
                PRINTED_MOST,
                measurement.wa,
                note=f"on the virtual drive, after {measurement.drive_writes:.2f} drive writes",
            )
            for utilization, measurement in measurements.items()
        ),
        ordered(
            f"Fig. 5: {name}, WA at utilization {least:.0%} ÷ WA at {most:.0%} (it increases)",
            measurements[least].wa / measurements[most].wa,
            note=f"{measurements[least].wa:.4f} and {measurements[most].wa:.4f}",
        ),
    ]


def write_cold(path: Path, size_bytes: float) -> None:
    """Write a file that is not accessed again, and synchronise it to the drive."""
    chunk = bytes(range(256)) * (_MIB // 256)
    with path.open("wb") as file:
        for _ in range(int(size_bytes) // _MIB):
            file.write(chunk)
        os.fsync(file.fileno())


def _lacking(benchmark: Benchmark) -> str:
    """Return what keeps a load from running here (missing programs or rights), or ""."""
    programs = benchmark.missing()
    if programs:
        return f"{' and '.join(programs)} not installed"
    try:
        require("nbdkit")
        with temporary_folder() as place:
            check_mount(place / "mnt", "ext4")
    except WriteampError as error:
        return str(error)
    return ""
