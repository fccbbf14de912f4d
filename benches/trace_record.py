"""Recording of a loop device in memory: lost events, processor time, and files of the pages.

Run `python benches/trace_record.py rate [SECONDS]`, `… live [SECONDS]` or `… files` as root. They
need losetup, fio and mkfs of ext4, XFS and Btrfs, and 1 GiB in /dev/shm.

`rate` writes random blocks of 4 KiB directly, as fast as fio can. `live` writes 1,000 a second, and
measures `writeamp live` with the drive simulated beside it. `files` runs fio, SQLite and
copies at once, and compares the file of the last write to each page with the file that has the page
at the end.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from writeamp.recorder.disk import disk_of, mount_of
from writeamp.recorder.extents import Allocations
from writeamp.recorder.fiemap import extents_of_file
from writeamp.recorder.file_systems.volume import FileSystem, Volume
from writeamp.recorder.files import KINDS

SIZE_BYTES = 512 << 20
# Sparse, and large enough that `live` simulates its largest drive.
LIVE_BYTES = 64 << 30
PAGE_BYTES = 4096
MAKE = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f"),
        "btrfs": ("mkfs.btrfs", "-q", "-f")}  # fmt: skip
UPSERTS = Path(__file__).parents[1] / "examples/sqlite_upserts.py"
# Half of fio's data is written back by the kernel; each copy is deleted or renamed, or takes the
# blocks of a deleted one.
WORK = """
fio --name=a --filename={point}/d/fio.dat --size=60M --rw=randwrite --bs=4k --ioengine=psync \
    --fsync=200 > /dev/null &
{python} {upserts} {point}/db.sqlite --transactions 400 --journal delete > /dev/null &
(cp --reflink=never {point}/d/src {point}/copy; mv {point}/copy {point}/d/copy2
dd if=/dev/urandom of={point}/over bs=64k count=320 conv=notrunc,fsync status=none
cp --reflink=never {point}/d/src {point}/deleted; sync; rm {point}/deleted
cp --reflink=never {point}/d/src {point}/reuse; sync {point}/reuse) &
wait
"""


def run(*words: str) -> str:
    """Return the output of a program."""
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@contextmanager
def loop_device(size_bytes: int = SIZE_BYTES) -> Iterator[str]:
    """Yield a loop device in memory."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as image:
        image.truncate(size_bytes)
        device = run("losetup", "--find", "--show", image.name)
        try:
            yield device
        finally:
            run("losetup", "--detach", device)


def record(device: str, out: Path, work: str, *options: str) -> tuple[dict[str, Any], float]:
    """Return the result of a recording, and the peak of its resident memory in MiB."""
    words = [sys.executable, "-m", "writeamp", "trace", "record", device, "--out", str(out)]
    process = subprocess.Popen(
        [*words, "--json", *options, "--", work], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    document = json.loads(process.stdout.read())
    _, _, usage = os.wait4(process.pid, 0)
    return document, usage.ru_maxrss / 1024


def rate(seconds: int) -> None:
    """Print the cost of recording many requests."""
    with loop_device() as device, tempfile.TemporaryDirectory() as folder:
        work = (
            f"fio --name=a --filename={device} --direct=1 --rw=randwrite --bs=4k --iodepth=64 "
            f"--ioengine=libaio --iodepth_batch=16 --time_based --runtime={seconds} > /dev/null"
        )
        out = Path(folder, "t.parquet")
        result, peak_mib = record(device, out, work)
        seconds_of = pl.read_parquet(out)["timestamp_ns"] // 1_000_000_000
        busiest = int(seconds_of.value_counts()["count"].max())  # type: ignore[arg-type]
    columns = {
        "duration, s": f"{result['duration_s']:.1f}",
        "requests": f"{result['requests']:,}",
        "requests a second": f"{result['requests'] / result['duration_s']:,.0f}",
        "in the busiest second": f"{busiest:,}",
        "events": f"{result['events']:,}",
        "lost": result["lost_events"],
        "processor time, s per million events": f"{result['processor_s_per_million_events']:.2f}",
        "resident memory, MiB": f"{peak_mib:.0f}",
    }
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    print(f"| {' | '.join(map(str, columns.values()))} |")


def live(seconds: int) -> None:
    """Print the processor time of `writeamp live`: once, and as a screen."""
    print("| output | requests | time, s | processor time, s | share of a core | memory, MiB |")
    print(f"|{'---|' * 6}")
    for name, options in (("`--once`", ["--once"]), ("screen", [])):
        with loop_device(LIVE_BYTES) as device:
            words = [sys.executable, "-m", "writeamp", "live", device, "--for", f"{seconds}s"]
            fio = subprocess.Popen(
                ["fio", "--name=a", f"--filename={device}", "--direct=1", "--rw=randwrite",
                 "--bs=4k", "--rate_iops=1000", "--time_based", f"--runtime={seconds + 30}"],
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            began = disk_of(device).written_bytes or 0
            start_s = time.monotonic()
            pid, terminal = pty.fork()
            if not pid:
                os.execve(words[0], [*words, *options], {**os.environ, "TERM": "xterm"})
            with suppress(OSError):  # the terminal ends with the process
                while os.read(terminal, 1 << 16):
                    pass
            _, status, usage = os.wait4(pid, 0)
            taken_s = time.monotonic() - start_s
            requests = ((disk_of(device).written_bytes or 0) - began) // PAGE_BYTES
            fio.terminate()
            fio.wait()
        assert status == 0, name
        processor_s = usage.ru_utime + usage.ru_stime
        cells = (name, f"{requests:,}", f"{taken_s:.1f}", f"{processor_s:.1f}",
                 f"{processor_s / taken_s:.1%}", f"{usage.ru_maxrss / 1024:.0f}")  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)


def files() -> None:
    """Print how many pages have the right file, for each file system."""
    print("| file system | written, MB | difference to the kernel | lost | unknown | right pages |")
    print(f"|{'---|' * 6}")
    for kind, make in MAKE.items():
        with loop_device() as device, tempfile.TemporaryDirectory() as folder:
            point = Path(folder, "mnt")
            point.mkdir()
            run(*make, device)
            run("mount", device, str(point))
            try:
                print(_row(kind, device, point, Path(folder, "t.parquet")), flush=True)
            finally:
                run("umount", str(point))


def _row(kind: str, device: str, point: Path, out: Path) -> str:
    (point / "d").mkdir()
    for name, size in (("over", 20 << 20), ("d/src", 40 << 20)):
        (point / name).write_bytes(os.urandom(size))
    run("sync")
    work = WORK.format(point=point, python=sys.executable, upserts=UPSERTS)
    result, _ = record(device, out, work, "--files", str(point))
    written, counted = result["written_bytes"], result["statistics_written_bytes"]
    right, pages = right_pages(kind, device, point, out)
    cells = (
        kind,
        f"{written / 1e6:.1f}",
        f"{(written + result['own_bytes']) / counted - 1:.4%}",
        result["lost_events"],
        f"{result['unknown_share']['file']:.2%}",
        f"{right:,} of {pages:,}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def right_pages(kind: str, device: str, point: Path, out: Path) -> tuple[int, int]:
    """Return the written pages whose last write has the right file, and all written pages."""
    disk = disk_of(device)
    file_system = KINDS[kind](Volume(disk, mount_of(str(point), disk)))
    rows = pl.read_parquet(out).filter(pl.col("op") == "write")
    first, length = (rows[name].to_numpy().astype(np.int64) for name in ("offset", "length"))
    last = np.full(SIZE_BYTES // PAGE_BYTES, -1)
    for row, (start, end) in enumerate(zip(first, first + length, strict=True)):
        last[start // PAGE_BYTES : -(-end // PAGE_BYTES)] = row
    right = written = 0
    for path in (path for path in point.rglob("*") if path.is_file()):
        pages = np.unique(np.concatenate([*_pages_of(path, file_system)]))
        writes = last[pages][last[pages] >= 0]
        written += len(writes)
        right += int((rows["file"].gather(writes) == str(path.relative_to(point))).sum())
    return right, written


def _pages_of(path: Path, file_system: FileSystem) -> Iterator[np.ndarray]:
    """Yield the pages of a device that hold data of a file."""
    yield np.empty(0, np.int64)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for logical, first, length in extents_of_file(file.fileno()):
            data = min(length, size - logical)
            placed: Allocations = file_system.placed([(1, first, data)])
            for start, end in zip(placed.first * 512, placed.end * 512, strict=True):
                yield np.arange(start // PAGE_BYTES, -(-end // PAGE_BYTES))


if __name__ == "__main__":
    measured = {"rate": rate, "live": live}.get(sys.argv[1])
    if measured is not None:
        measured(int(sys.argv[2]) if len(sys.argv) > 2 else 60)
    else:
        files()
