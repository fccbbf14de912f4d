#!/usr/bin/env python3
"""Capture the block trace of PostgreSQL under TPC-B (pgbench) on ext4, as a writeamp trace.

The database runs on a virtual drive that records its requests. A replay (`simulate --trace`) sends
all requests and counts those of the transactions. With --only-tpcb the trace has only the requests
of the transactions, so that it can be replayed in a loop; otherwise mkfs would empty the drive in
each pass.

Example:
  sudo python scripts/capture_postgres_trace.py pg.parquet --size 1GiB --scale 20 \
      --transactions 240000 --only-tpcb
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import polars as pl

import writeamp as wa
from writeamp.errors import WriteampError

POSTGRES = Path(__file__).resolve().parent.parent / "examples" / "databases" / "postgres.sh"


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_options(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="writeamp-") as folder:
            os.chmod(folder, 0o755)  # the database runs as another user
            mount = Path(folder, "mnt")
            transactions = str(options.transactions)
            with wa.VirtualSsd(size=options.size, mount=mount, record=options.out) as drive:
                with database(mount, str(options.scale), transactions) as loaded:
                    drive.begin()
                    finish(loaded)
                print(drive.result())
        if options.only_tpcb:
            cut(options.out)
    except WriteampError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: interrupted; no trace was written", file=sys.stderr)
        return 130
    return 0


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="Parquet file to write")
    parser.add_argument("--size", default="1GiB", help="size of the drive (default 1GiB)")
    parser.add_argument(
        "--scale", type=int, default=20, help="scale of pgbench, 16 MB each (default 20)"
    )
    parser.add_argument("--transactions", type=int, default=240_000, help="number (default 240000)")
    parser.add_argument(
        "--only-tpcb", action="store_true", help="leave out the requests before the transactions"
    )
    return parser.parse_args(arguments)


@contextmanager
def database(mount: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a process with a filled database, which reads a line before its transactions."""
    running = subprocess.Popen(
        [POSTGRES, *arguments],
        env={**os.environ, "mountpoint": str(mount), "AFTER_LOAD": "echo loaded; read -r go"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    assert running.stdout is not None
    try:
        if running.stdout.readline() != "loaded\n":
            raise WriteampError("filling PostgreSQL failed; see its messages above")
        yield running
    finally:
        if running.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGTERM)
        running.wait()


def finish(loaded: subprocess.Popen[str]) -> None:
    """Run the transactions to their end."""
    loaded.communicate("go\n")
    if loaded.returncode != 0:
        raise WriteampError(f"pgbench failed with status {loaded.returncode}")


def cut(path: Path) -> None:
    """Reduce a recording to the counted requests, with times since the first counted request."""
    trace = wa.traces.read(path)
    assert trace.recorded is not None
    counted = trace.requests[trace.recorded.count_from_request :]
    since = counted.with_columns(pl.col("timestamp_ns") - counted["timestamp_ns"][0])
    wa.traces.write(replace(trace, requests=since, path="", recorded=None, fua=None), path)


if __name__ == "__main__":
    sys.exit(main())
