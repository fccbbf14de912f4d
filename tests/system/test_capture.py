"""The PostgreSQL capture: a live run where the machine can, and the shipped trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from patience import PATIENCE_S
from places import ROOT, TRACE
from served import left_of, missing

CAPTURE = ROOT / "scripts" / "capture_postgres_trace.py"


@pytest.fixture
def capture_command(tmp_path: Path) -> list[str]:
    lacking = missing("nbdfuse", "losetup", "mkfs.ext4", "pgbench", "setpriv", root=True)
    if lacking:
        pytest.skip(f"a live capture needs {', '.join(lacking)}")
    out = tmp_path / "live.parquet"
    return [sys.executable, str(CAPTURE), str(out), "--size", "256MiB", "--scale", "1"]


def leftovers(temporary: Path) -> list[str]:
    """Return work directories, mounts, loop devices and processes of captures with this TMPDIR."""
    return [*left_of(str(temporary)), *map(str, temporary.iterdir())]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory for the capture's own; under /tmp because a socket's path must be short."""
    path = Path(tempfile.mkdtemp(prefix="wa-test-"))
    path.chmod(0o755)
    yield path
    path.rmdir()


@pytest.mark.parametrize("more", [[], ["--only-tpcb"]])
def test_a_live_capture_has_writes_trims_and_flushes_and_leaves_nothing(
    capture_command: list[str], temporary: Path, more: list[str]
) -> None:
    result = subprocess.run(
        [*capture_command, "--transactions", "600", *more],
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert result.returncode == 0, result.stderr
    assert leftovers(temporary) == []
    trace = wa.traces.read(capture_command[2])
    requests = trace.requests
    assert requests.filter(pl.col("offset") + pl.col("length") > 256 << 20).is_empty()
    assert (trace.recorded is None) == bool(more)
    if trace.recorded is not None:
        assert requests.filter(pl.col("op") == "trim").height > 0
        requests = requests[trace.recorded.count_from_request :]
    # Four clients may share a commit's write and flush, not more.
    assert requests.filter(pl.col("op") == "write").height >= 150
    assert requests.filter(pl.col("op") == "flush").height >= 150


@pytest.mark.parametrize("database", [False, True])
def test_an_interrupted_capture_leaves_nothing(
    capture_command: list[str], temporary: Path, database: bool
) -> None:
    process = subprocess.Popen(
        [*capture_command, "--transactions", "1000000"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + PATIENCE_S
    try:
        # At once, while the drive is being built, or when the database is there.
        pattern = "*/mnt/postgres/log" if database else "*"
        while not list(temporary.glob(pattern)) and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        # To the whole group, as a terminal's Ctrl-C goes.
        os.killpg(process.pid, signal.SIGINT)
        _, messages = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, messages
    assert messages.endswith("error: interrupted; everything was taken down, no trace written\n")
    assert leftovers(temporary) == []
    assert not Path(capture_command[2]).exists()


def check_schema(frame: pl.DataFrame, metadata: dict[str, str]) -> None:
    assert frame.schema == wa.traces.SCHEMA
    assert metadata["writeamp.trace_schema"] == "1"
    assert frame["timestamp_ns"][0] == 0
    assert frame["timestamp_ns"].is_sorted()
    assert frame["device"].unique().to_list() == [0]
    assert frame.null_count().row(0) == (0,) * len(wa.traces.SCHEMA)
    assert frame.filter((pl.col("op") == "flush") != (pl.col("length") == 0)).is_empty()


def test_the_shipped_trace_keeps_its_promises() -> None:
    frame, metadata = pl.read_parquet(TRACE), pl.read_parquet_metadata(TRACE)
    check_schema(frame, metadata)
    assert TRACE.stat().st_size < 5_000_000
    writes = frame.filter(pl.col("op") == "write")
    assert writes.height > 300_000
    assert {"write", "trim", "flush"} <= set(frame["op"].unique())
    disk_bytes = int(metadata["disk_bytes"])
    assert frame.filter(pl.col("offset") + pl.col("length") > disk_bytes).is_empty()

    starts_ns = json.loads(metadata["phase_starts_ns"])
    of_tpcb = pl.col("timestamp_ns").is_between(starts_ns["tpcb"], starts_ns["shutdown"])
    assert writes.filter(of_tpcb).height > 0.9 * writes.height
    assert writes.filter((pl.col("offset") % 4096 != 0) | (pl.col("length") % 4096 != 0)).is_empty()
    pages = (
        writes.select(
            pl.int_ranges(pl.col("offset") // 4096, (pl.col("offset") + pl.col("length")) // 4096)
        )
        .to_series()
        .explode()
    )
    assert pages.len() > 6 * pages.n_unique()
