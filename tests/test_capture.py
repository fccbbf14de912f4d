"""The PostgreSQL capture: its options, a live run where the machine can, the shipped trace."""

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

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
CAPTURE = SCRIPTS / "capture_postgres_trace.py"
SHIPPED = ROOT / "examples" / "postgres-tpcb.parquet"
LIVE_LIMIT_S = 120

sys.path.insert(0, str(SCRIPTS))
import capture_postgres_trace  # noqa: E402
from capture_postgres_trace import (  # noqa: E402
    Phase,
    cut_before,
    main,
    missing_requirements,
    parse_options,
    parse_size,
    phase_table,
)
from capture_programs import find_program  # noqa: E402
from nbdkit_log_to_parquet import SCHEMA, SCHEMA_METADATA  # noqa: E402


def test_sizes_are_in_binary_units() -> None:
    assert [parse_size("512M"), parse_size("1g"), parse_size("262144K")] == [
        1 << 29,
        1 << 30,
        1 << 28,
    ]


def test_transactions_are_shared_among_the_clients_and_rounded_up(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "pg.parquet")]
    assert parse_options([*out, "--transactions", "10"])[0].load_options[-1] == "--transactions=3"
    assert parse_options(out)[0].load_options[-1] == "--time=300"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "nowhere/pg.parquet"],
        ["--size", "1X"],
        ["--size", "591M", "--scale", "20"],
        ["--scale", "0"],
        ["--clients", "-1"],
        ["--seconds", "1.5"],
        ["--transactions", "9", "--seconds", "9"],
        ["--start", "checkpoint"],
    ],
)
def test_an_option_that_makes_no_sense_ends_with_status_2(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parse_options(["--out", str(tmp_path / "pg.parquet"), *arguments])
    assert end.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_the_phase_table_gives_each_request_to_the_phase_it_began_in() -> None:
    frame = pl.DataFrame(
        [
            (0, 0, "write", 0, 1_000_000),
            (9, 0, "write", 0, 1_000_000),
            (10, 0, "write", 0, 4_000_000_000),
            (11, 0, "write", 0, 4_000_000_000),
        ],
        schema=SCHEMA,
        orient="row",
    )
    rows = [
        line.split() for line in phase_table(frame, {Phase.MKFS: 0, Phase.TPCB: 10}).splitlines()
    ]
    assert rows == [
        ["mkfs", "write", "2", "requests", "2.00", "MB"],
        ["tpcb", "write", "2", "requests", "8000.00", "MB"],
    ]


def test_a_trace_cut_at_a_phase_counts_time_from_its_own_first_request() -> None:
    frame = pl.DataFrame(
        [(start_ns, 0, "write", start_ns, 4096) for start_ns in (0, 9, 12, 50)],
        schema=SCHEMA,
        orient="row",
    )
    starts_ns = dict(zip(Phase, (0, 1, 2, 10, 40), strict=True))
    kept, kept_starts_ns = cut_before(Phase.TPCB, frame, starts_ns)
    assert kept.select("timestamp_ns", "offset").rows() == [(0, 12), (38, 50)]
    assert kept_starts_ns == {Phase.TPCB: 0, Phase.SHUTDOWN: 28}
    assert cut_before(Phase.MKFS, frame, starts_ns)[0].equals(frame)


def test_a_machine_that_cannot_capture_is_told_all_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed = find_program
    monkeypatch.setattr(
        capture_postgres_trace,
        "find_program",
        lambda name: None if name in ("nbdfuse", "pgbench") else installed(name),
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["--out", str(tmp_path / "pg.parquet")]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: a capture needs root rights, ")
    assert "program nbdfuse (Debian package libnbd-bin)" in message
    assert "program pgbench (Debian package postgresql)" in message
    assert message.count("\n") == 1


@pytest.fixture
def capture_command(tmp_path: Path) -> list[str]:
    missing = missing_requirements()
    if missing:
        pytest.skip(f"a live capture needs {', '.join(missing)}")
    out = tmp_path / "live.parquet"
    return [sys.executable, str(CAPTURE), "--size", "256M", "--scale", "1", "--out", str(out)]


def leftovers(temporary: Path) -> list[str]:
    """Work directories, mounts, loop devices and processes of captures with this TMPDIR."""
    processes = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            words = (directory / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(temporary) in words:
            processes.append(words)
    mounts = [
        line for line in Path("/proc/mounts").read_text().splitlines() if str(temporary) in line
    ]
    backing_files = [
        path.read_text() for path in Path("/sys/block").glob("loop*/loop/backing_file")
    ]
    loops = [path for path in backing_files if str(temporary) in path]
    return [*processes, *mounts, *loops, *map(str, temporary.iterdir())]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory for the capture's own; under /tmp because a socket's path must be short."""
    path = Path(tempfile.mkdtemp(prefix="wa-test-"))
    path.chmod(0o755)
    yield path
    path.rmdir()


def test_a_live_capture_has_writes_trims_and_flushes_and_leaves_nothing(
    capture_command: list[str], temporary: Path
) -> None:
    result = subprocess.run(
        [*capture_command, "--transactions", "600"],
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
        capture_output=True,
        text=True,
        timeout=LIVE_LIMIT_S,
    )
    assert result.returncode == 0, result.stderr
    assert leftovers(temporary) == []

    out = Path(capture_command[-1])
    frame, metadata = pl.read_parquet(out), pl.read_parquet_metadata(out)
    check_schema(frame, metadata)
    assert frame.filter(pl.col("offset") + pl.col("length") > 256 << 20).is_empty()
    assert metadata["transactions"] == "600"
    in_load = frame.filter(
        pl.col("timestamp_ns") >= json.loads(metadata["phase_starts_ns"])["tpcb"]
    )
    # Four clients may share a commit's write and flush, not more.
    assert in_load.filter(pl.col("op") == "write").height >= 150
    assert in_load.filter(pl.col("op") == "flush").height >= 150
    assert frame.filter(pl.col("op") == "trim").height > 0


@pytest.mark.parametrize("phase", ["mkfs", "initdb", "tpcb"])
def test_an_interrupted_capture_leaves_nothing(
    capture_command: list[str], temporary: Path, phase: str
) -> None:
    process = subprocess.Popen(
        [*capture_command, "--seconds", "60"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if line.strip() == f"capture: {phase}":
                break
        time.sleep(0.3)
    finally:
        # To the whole group, as a terminal's Ctrl-C goes.
        os.killpg(process.pid, signal.SIGINT)
        _, messages = process.communicate(timeout=LIVE_LIMIT_S)
    assert process.returncode == 130
    assert messages.endswith("error: interrupted; everything was taken down, no trace written\n")
    assert leftovers(temporary) == []
    assert not Path(capture_command[-1]).exists()


def check_schema(frame: pl.DataFrame, metadata: dict[str, str]) -> None:
    assert frame.schema == SCHEMA
    assert SCHEMA_METADATA.items() <= metadata.items()
    assert frame["timestamp_ns"][0] == 0
    assert frame["timestamp_ns"].is_sorted()
    assert frame["device"].unique().to_list() == [0]
    assert frame.null_count().row(0) == (0,) * len(SCHEMA)
    assert frame.filter((pl.col("op") == "flush") != (pl.col("length") == 0)).is_empty()


def test_the_shipped_trace_keeps_its_promises() -> None:
    frame, metadata = pl.read_parquet(SHIPPED), pl.read_parquet_metadata(SHIPPED)
    check_schema(frame, metadata)
    assert SHIPPED.stat().st_size < 5_000_000
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
