#!/usr/bin/env python3
"""Fig. 5 of Park et al. 2017: file-system benchmarks beside a cold file, on the virtual drive.

    sudo .venv/bin/python examples/fio/park2017_fig5.py docs/images/park2017-fig5.png

The drive has the paper's 986 superblocks and op, and shows 2 GiB instead of 215 GB; files are as
large a share of it as in the paper's Table 5. Each load writes twice the drive beside a cold file
that brings the file system to the utilization. Only those writes are counted.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import writeamp as wa

HERE = Path(__file__).resolve().parent
DRIVE = wa.device("samsung-843tn", size="2GiB", page_bytes=4096, pages_per_block=610)
UTILIZATIONS = (0.6, 0.7, 0.8, 0.9)
DRIVE_WRITES = 2
MIB = 2**20
SPARE_SHARE = 0.01  # so that a load never finds the file system full
PRINTED_MOST = 1.2


@dataclass(frozen=True)
class Load:
    """A job file, what its files take of the file system, and the variables in it."""

    name: str
    share: float
    variables: dict[str, str]


def loads() -> list[Load]:
    """Return the loads in the sizes of Table 5, as shares of 215 GB, each writing as much."""
    size, written = DRIVE.capacity_bytes, DRIVE_WRITES * DRIVE.capacity_bytes

    def churned(share: float, file_bytes: int, threads: int) -> dict[str, str]:
        files = round(share * size / file_bytes / threads)
        loops = round(written / (files * file_bytes * threads))
        return {"FILES": str(files), "LOOPS": str(loops)}

    fileserver, varmail = 80_000 * 256 * 1024 / 215e9, 720_000 * 16 * 1024 / 215e9
    # A row of Sysbench takes some 220 bytes with its index; a record of YCSB 1 KiB.
    oltp, cassandra = 45e6 * 220 / 215e9, 6e6 * 1024 / 215e9
    # The smallest table: the files of all jobs together are 88 of them.
    unit = round(cassandra * size / 88 / 4096) * 4096
    loops = round(written / (16 * unit) / 16) * 16
    table = {"TABLE": f"{round(oltp * size / MIB)}m", "WRITES": f"{round(0.42 * written / MIB)}m"}
    return [
        Load("fileserver", fileserver, churned(fileserver, 256 * 1024, 10)),
        Load("varmail", varmail, churned(varmail, 16 * 1024, 16)),
        Load("oltp", oltp, table | {"LOG": f"{round(0.16 * written / MIB)}m"}),
        Load(
            "cassandra",
            cassandra,
            {f"UNIT{times or ''}": str((times or 1) * unit) for times in (0, 4, 16)}
            | {f"LOOPS{times or ''}": str(loops // (times or 1)) for times in (0, 4, 16)},
        ),
    ]


def measured(load: Load, utilization: float) -> wa.ServeResult:
    """Return what a load did to a new drive beside a cold file."""
    with tempfile.TemporaryDirectory(prefix="writeamp-") as folder:
        point = Path(folder, "mnt")
        with wa.VirtualSsd(DRIVE, mount=point) as drive:
            space = os.statvfs(point)
            cold = (utilization - load.share) * space.f_blocks * space.f_frsize
            free = space.f_bavail * space.f_frsize - load.share * DRIVE.capacity_bytes
            write_cold(point / "cold", min(cold, (1 - SPARE_SHARE) * free))
            drive.begin()
            job = HERE / f"{load.name}.fio"
            variables = {**os.environ, **load.variables, "mountpoint": str(point)}
            run(["fio", "--output=/dev/null", str(job)], variables)
            return drive.result()


def write_cold(path: Path, size: float) -> None:
    chunk = bytes(range(256)) * 4096
    with path.open("wb") as file:
        for _ in range(int(size) // len(chunk)):
            file.write(chunk)
        os.fsync(file.fileno())


def run(command: list[str], variables: dict[str, str]) -> None:
    """Run a program to its end; Ctrl-C ends it too, before the drive is taken down."""
    with subprocess.Popen(command, env=variables) as running:
        try:
            status = running.wait()
        except KeyboardInterrupt:
            running.send_signal(signal.SIGINT)
            raise
    if status != 0:
        raise SystemExit(f"{command[0]} failed with status {status}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("picture", type=Path)
    asked = parser.parse_args()
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    print("| load | files | " + " | ".join(f"{one:.0%}" for one in UTILIZATIONS) + " |")
    print("|---" * (len(UTILIZATIONS) + 2) + "|")
    for load in loads():
        found = [measured(load, utilization).wa for utilization in UTILIZATIONS]
        cells = " | ".join(f"{one:.3f}" for one in found)
        print(f"| {load.name} | {load.share:.1%} | {cells} |", flush=True)
        axes.plot([100 * one for one in UTILIZATIONS], found, marker="o", label=load.name)
    axes.axhline(PRINTED_MOST, color="0.5", linestyle="--", linewidth=1)
    axes.text(60, PRINTED_MOST, "paper: at most 1.2", va="bottom", fontsize=8, color="0.4")
    axes.set_xlabel("utilization of the file system (%)")
    axes.set_ylabel("write amplification\n(flash pages per host page)")
    axes.set_ylim(bottom=1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(asked.picture, dpi=150)


if __name__ == "__main__":
    main()
