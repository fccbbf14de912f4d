#!/usr/bin/env python3
"""Capture the block trace of PostgreSQL under TPC-B (pgbench) on ext4, as a writeamp trace.

The database runs on an ext4 file system on a memory disk that logs its requests: nbdkit, nbdfuse,
a loop device. Needs root, Linux with /dev/fuse and loop devices, and the system user `postgres`.
Everything that the script starts or mounts is taken down again, also after a failure or Ctrl-C.

Example:
  sudo python scripts/capture_postgres_trace.py --size 1G --scale 20 --seconds 300 --out pg.parquet

With --start tpcb the trace begins with the load: the requests of mkfs, initdb and the filling of
the tables are left out. Replayed in a loop, mkfs would empty the drive (TRIM) on every round.
"""

from __future__ import annotations

import argparse
import contextlib
import enum
import json
import os
import pwd
import re
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from capture_disk import (
    DISK_DEVICES,
    DISK_PROGRAMS,
    REQUEST_LOG,
    make_filesystem,
    serve_disk,
    work_directory,
)
from capture_programs import (
    CaptureError,
    find_program,
    interrupts_held,
    run,
    start_daemon,
    take_interrupts,
    wait_until,
)
from nbdkit_log_to_parquet import Conversion, LogError, convert_log, write_trace

DATABASE_USER = "postgres"
DATABASE_PACKAGE = "postgresql"
DATABASE_PROGRAMS = ("initdb", "postgres", "pg_isready", "pgbench", "psql")
# Small buffers and short checkpoints let a short run live through many rounds of write-back and
# of WAL segment reuse, which a production server spreads over days.
SETTINGS = {
    "shared_buffers": "16MB",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "checkpoint_timeout": "30s",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "autovacuum_naptime": "10s",
    "max_connections": "20",
}
SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# An empty database with its write-ahead log and the file system's journal, and what pgbench's
# tables and index grow to for each unit of scale.
EMPTY_DATABASE_BYTES = 192 << 20
SCALE_BYTES = 20 << 20


@dataclass(frozen=True)
class Plan:
    """What to capture: a disk, the size of the database, pgbench's options for the load."""

    size_bytes: int
    scale: int
    load_options: tuple[str, ...]


class Phase(enum.StrEnum):
    """The phases of a capture, in order."""

    MKFS = "mkfs"
    INITDB = "initdb"
    LOAD = "load"
    TPCB = "tpcb"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True)
class Capture:
    """All requests from mkfs on, when each phase began (ns since the first request), and work."""

    conversion: Conversion
    starts_ns: dict[Phase, int]
    transactions: int


def missing_requirements() -> list[str]:
    """Everything this machine lacks for a capture, each as a phrase; empty if it can run."""
    packages = DISK_PROGRAMS | dict.fromkeys(DATABASE_PROGRAMS, DATABASE_PACKAGE)
    missing = [] if os.geteuid() == 0 else ["root rights"]
    missing += [f"device {path}" for path in DISK_DEVICES if not os.path.exists(path)]
    missing += [
        f"program {name} (Debian package {package})"
        for name, package in packages.items()
        if find_program(name) is None
    ]
    try:
        pwd.getpwnam(DATABASE_USER)
    except KeyError:
        missing.append(f"system user {DATABASE_USER} (Debian package {DATABASE_PACKAGE})")
    return missing


def capture(plan: Plan) -> Capture:
    """Run the whole capture, take everything down, and return what the disk was asked to do."""
    starts_ns: dict[Phase, int] = {}
    with work_directory() as work:
        undo = contextlib.ExitStack()
        try:
            transactions = run_workload(plan, work, starts_ns, undo)
        finally:
            with interrupts_held():
                undo.close()
        with (work / REQUEST_LOG).open(encoding="utf-8") as lines:
            conversion = convert_log(lines, "nbdkit's log")
    relative_ns = {
        phase: max(0, start_ns - conversion.start_ns) for phase, start_ns in starts_ns.items()
    }
    return Capture(conversion, relative_ns, transactions)


def run_workload(
    plan: Plan, work: Path, starts_ns: dict[Phase, int], undo: contextlib.ExitStack
) -> int:
    """Build the stack and run PostgreSQL's whole life on it; `undo` collects its taking down.

    Notes in `starts_ns` when each phase begins (ns since 1970); returns the number of TPC-B
    transactions that were processed.
    """

    def begin(phase: Phase) -> None:
        starts_ns[phase] = time.time_ns()
        print(f"capture: {phase}", file=sys.stderr, flush=True)

    begin(Phase.MKFS)
    loop = serve_disk(plan.size_bytes, work, undo)
    mount_point = make_filesystem(loop, work, undo)

    begin(Phase.INITDB)
    server = start_database(mount_point / "data", work, undo)

    begin(Phase.LOAD)
    run_as_database("pgbench", *server, "--initialize", "--quiet", f"--scale={plan.scale}")
    run_as_database("psql", *server, "--quiet", "--command=CHECKPOINT")
    # What the load left in the page cache goes to the load's account.
    os.sync()

    begin(Phase.TPCB)
    report = run_as_database("pgbench", *server, *plan.load_options)
    begin(Phase.SHUTDOWN)
    processed = re.search(r"transactions actually processed: (\d+)", report)
    if processed is None:
        raise CaptureError("pgbench's report does not say how many transactions it processed")
    return int(processed[1])


def start_database(data: Path, work: Path, undo: contextlib.ExitStack) -> tuple[str, str]:
    """Create and start a PostgreSQL server on `data`; returns its clients' connection options."""
    sockets = work / "sockets"
    for directory in (data, sockets):
        directory.mkdir(mode=0o700)
        shutil.chown(directory, DATABASE_USER)
    run_as_database(
        "initdb", "--pgdata", str(data), "--auth=trust", "--locale=C", "--encoding=UTF8"
    )
    settings = SETTINGS | {"listen_addresses": "", "unix_socket_directories": str(sockets)}
    with (data / "postgresql.conf").open("a", encoding="utf-8") as conf:
        conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    # To PostgreSQL, SIGINT is the "fast" shutdown: sessions end and a checkpoint is written.
    daemon = start_daemon(
        undo,
        work / "postgres.messages",
        "postgres",
        "-D",
        str(data),
        user=DATABASE_USER,
        stop_signal=signal.SIGINT,
    )
    server = ("--host", str(sockets))
    wait_until(lambda: accepts_connections(server), daemon)
    return server


def accepts_connections(server: Sequence[str]) -> bool:
    try:
        run_as_database("pg_isready", *server, "--quiet")
    except CaptureError:
        return False
    return True


def run_as_database(name: str, *arguments: str) -> str:
    return run(name, *arguments, user=DATABASE_USER)


def cut_before(
    start: Phase, frame: pl.DataFrame, starts_ns: Mapping[Phase, int]
) -> tuple[pl.DataFrame, dict[Phase, int]]:
    """The trace from phase `start` on, its times and phases counted from its own first request."""
    kept = frame.filter(pl.col("timestamp_ns") >= starts_ns[start])
    if kept.is_empty():
        raise CaptureError(f"no request reached the disk from phase {start} on")
    first_ns = int(kept["timestamp_ns"][0])
    phases = list(Phase)
    return kept.with_columns(pl.col("timestamp_ns") - first_ns), {
        phase: max(0, starts_ns[phase] - first_ns) for phase in phases[phases.index(start) :]
    }


def provenance(
    plan: Plan, transactions: int, starts_ns: Mapping[Phase, int], frame: pl.DataFrame
) -> dict[str, str]:
    """How the trace was made, for the file's key-value metadata."""
    return {
        "source": "scripts/capture_postgres_trace.py",
        "workload": f"TPC-B, scale {plan.scale}: pgbench {' '.join(plan.load_options)}",
        "transactions": str(transactions),
        "postgres": run("postgres", "--version").strip(),
        "postgres_settings": json.dumps(SETTINGS),
        "filesystem": "ext4, mounted with discard",
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "nbdkit": run("nbdkit", "--version").strip(),
        "disk_bytes": str(plan.size_bytes),
        "duration_s": f"{int(frame['timestamp_ns'][-1]) / 1e9:.3f}",
        "phase_starts_ns": json.dumps(starts_ns),
    }


def phase_table(frame: pl.DataFrame, starts_ns: Mapping[Phase, int]) -> str:
    """Requests and MB (10^6 bytes) of each phase, one operation a line."""
    phase_name = pl.lit(None, dtype=pl.String())
    for phase, start_ns in starts_ns.items():
        begun = pl.col("timestamp_ns") >= start_ns
        phase_name = pl.when(begun).then(pl.lit(phase.value)).otherwise(phase_name)
    counts = frame.group_by(phase_name.alias("phase"), "op", maintain_order=True).agg(
        pl.len(), pl.col("length").cast(pl.UInt64).sum()
    )
    return "\n".join(
        f"{name:10}{op:6}{requests:>9} requests {length_bytes / 1e6:>10.2f} MB"
        for name, op, requests, length_bytes in counts.iter_rows()
    )


def parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 1G")
    return int(match[1]) * SIZE_UNITS[match[2]]


def parse_count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def parse_options(arguments: Sequence[str] | None) -> tuple[Plan, Phase, Path]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="Parquet file to write")
    parser.add_argument("--size", type=parse_size, default="1G", help="disk size (default 1G)")
    parser.add_argument(
        "--scale", type=parse_count, default=20, help="pgbench scale, 16 MB each (default 20)"
    )
    parser.add_argument("--clients", type=parse_count, default=4, help="sessions (default 4)")
    parser.add_argument("--seed", type=parse_count, default=1, help="pgbench's seed (default 1)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--seconds", type=parse_count, default=300, help="length of the load (default 300)"
    )
    length.add_argument(
        "--transactions", type=parse_count, help="length of the load, all sessions together"
    )
    parser.add_argument(
        "--start",
        type=Phase,
        choices=list(Phase),
        default=Phase.MKFS,
        help="phase that the trace begins with (default mkfs, the whole life)",
    )
    options = parser.parse_args(arguments)
    if not options.out.absolute().parent.is_dir():
        parser.error(f"--out: {options.out.parent} is not a directory")
    needed_bytes = EMPTY_DATABASE_BYTES + options.scale * SCALE_BYTES
    if options.size < needed_bytes:
        parser.error(f"--size: scale {options.scale} needs at least {needed_bytes >> 20}M")
    stop_rule = f"--time={options.seconds}"
    if options.transactions is not None:
        # pgbench counts the transactions of each session.
        stop_rule = f"--transactions={-(-options.transactions // options.clients)}"
    load_options = (
        "--no-vacuum",
        "--protocol=prepared",
        f"--client={options.clients}",
        f"--random-seed={options.seed}",
        stop_rule,
    )
    return Plan(options.size, options.scale, load_options), options.start, options.out


def main(arguments: Sequence[str] | None = None) -> int:
    plan, start, out = parse_options(arguments)
    missing = missing_requirements()
    if missing:
        print(f"error: a capture needs {', '.join(missing)}", file=sys.stderr)
        return 2
    take_interrupts()
    try:
        captured = capture(plan)
        conversion = captured.conversion
        frame, starts_ns = cut_before(start, conversion.frame, captured.starts_ns)
        write_trace(frame, out, provenance(plan, captured.transactions, starts_ns, frame))
    except (CaptureError, LogError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: interrupted; everything was taken down, no trace written", file=sys.stderr)
        return 130
    print(phase_table(conversion.frame, captured.starts_ns))
    print(
        f"{out}: {frame.height} requests from {start} on, {out.stat().st_size} bytes; left out: "
        f"{conversion.failed_requests} failed, {conversion.unanswered_requests} unanswered"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
