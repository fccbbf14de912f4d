"""Real programs on the virtual drive, which find their data; and the PostgreSQL capture."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from patience import PATIENCE_S
from places import EXAMPLES, ROOT, TRACE
from served import left_of, missing, needs
from writeamp_papers.park2017 import cassandra, sysbench_oltp
from writeamp_papers.park2017.benchmarks import Load
from writeamp_papers.park2017.cassandra import Cassandra
from writeamp_papers.park2017.file_loads import FILESERVER, VARMAIL
from writeamp_papers.park2017.sysbench_oltp import oltp

MIB = 2**20
FILE_SYSTEM = ("nbdfuse", "losetup", "mkfs.ext4")


def shell(command: str, **variables: str | Path) -> str:
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=os.environ | {name: str(value) for name, value in variables.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE_S,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def raw() -> Iterator[wa.VirtualSsd]:
    """A drive that clients reach over its socket."""
    with wa.VirtualSsd("tlc-datacenter", size="128MiB") as drive:
        yield drive


@pytest.fixture
def on_file_system(tmp_path: Path) -> Iterator[wa.VirtualSsd]:
    """A drive that is mounted, and recorded; after the test its replay comes to the same."""
    trace = tmp_path / "t.parquet"
    with tempfile.TemporaryDirectory(prefix="wa-test-") as folder:
        os.chmod(folder, 0o755)  # PostgreSQL runs as a user of its own
        mount = Path(folder, "mnt")
        with wa.VirtualSsd("tlc-datacenter", size="256MiB", mount=mount, record=trace) as drive:
            yield drive
            result = drive.result()
    replayed = wa.simulate(trace=trace, spread=False)
    assert replayed.causes == {cause: result.causes[cause] for cause in replayed.causes}
    assert replayed.erases == result.erases
    assert replayed.host["written_bytes"] == result.host_bytes


def mount_point(drive: wa.VirtualSsd) -> Path:
    assert drive.mount_point is not None
    return drive.mount_point


@needs("fio")
def test_fio_verifies_what_it_wrote(raw: wa.VirtualSsd) -> None:
    # Blocks of half a KiB to 16 KiB at any sector: most pages are written in part.
    shell(
        "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --bsrange=512-16k "
        "--bs_unaligned=0 --blockalign=512 --size=100m --verify=crc32c --verify_fatal=1 "
        "--do_verify=1 --verify_state_save=0 --iodepth=8 --randseed=1",
        uri=raw.uri,
    )
    result = raw.result()
    assert result.host_bytes == 100 * MIB
    assert result.read_modify_write_pages > 0
    assert result.flash_pages >= result.host_pages > result.host_bytes // 4096


@needs("qemu-img", "qemu-io")
def test_qemu_converts_compares_and_discards(raw: wa.VirtualSsd, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(np.random.default_rng(1).bytes(64 * MIB) + bytes(64 * MIB))
    shell("qemu-img convert -n -f raw -O raw $image $uri", image=image, uri=raw.uri)
    shell("qemu-img compare -f raw -F raw $image $uri", image=image, uri=raw.uri)
    before = raw.result()
    # Zeros take no space.
    assert 64 * MIB <= before.host_bytes < 66 * MIB
    shell(
        "qemu-io -f raw -d unmap -c 'write -P 7 3k 100k' -c 'read -P 7 3k 100k' "
        "-c 'discard 1M 8M' -c 'read -P 0 1M 8M' -c 'write -z -u 16M 1M' -c 'read -P 0 16M 1M' "
        "-c flush $uri",
        uri=raw.uri,
    )
    after = raw.result()
    assert after.host["trimmed_bytes"] - before.host["trimmed_bytes"] == 9 * MIB
    assert after.host["flushes"] > before.host["flushes"]


@needs("nbdcopy")
def test_nbdcopy_brings_back_what_it_took(raw: wa.VirtualSsd, tmp_path: Path) -> None:
    image, copy = tmp_path / "image", tmp_path / "copy"
    image.write_bytes(np.random.default_rng(2).bytes(128 * MIB))
    shell("nbdcopy --flush $image $uri && nbdcopy $uri $copy", image=image, uri=raw.uri, copy=copy)
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (image, copy)]
    assert sums[0] == sums[1]
    assert raw.host_bytes == 128 * MIB
    assert raw.wa == 1


@needs(*FILE_SYSTEM, root=True)
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_sqlite_is_whole_after_its_updates(on_file_system: wa.VirtualSsd, journal: str) -> None:
    database = mount_point(on_file_system) / "db"
    options = f"--journal {journal} --rows 20000 --batch 5 --transactions 2000"
    shell(f"{sys.executable} {EXAMPLES}/sqlite_upserts.py {database} {options}")
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT sum(count) FROM entries").fetchone() == (10_000,)
    assert on_file_system.host_bytes > database.stat().st_size


@needs(*FILE_SYSTEM, "setpriv", root=True)
def test_postgres_keeps_its_accounts_balanced(on_file_system: wa.VirtualSsd) -> None:
    if not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        pytest.skip("needs postgres")
    # Each transaction adds its amount to an account, a teller and a branch, and writes it down.
    query = (
        "SELECT sum(abalance) = (SELECT sum(delta) FROM pgbench_history), (SELECT count(*) FROM "
        "pgbench_history) FROM pgbench_accounts"
    )
    balance = f'as_postgres psql --host="$sockets" --tuples-only --command="{query}" postgres'
    said = shell(
        f"{EXAMPLES}/databases/postgres.sh 1 2000",
        mountpoint=mount_point(on_file_system),
        AT_END=balance,
    )
    assert said.split() == ["t", "|", "2000"]
    assert on_file_system.result().host["flushes"] > 100


@needs(*FILE_SYSTEM, "db_bench", "ldb", root=True)
def test_rocksdb_is_consistent_after_its_compactions(on_file_system: wa.VirtualSsd) -> None:
    point = mount_point(on_file_system)
    shell(f"{EXAMPLES}/databases/rocksdb.sh level 50000 100000", mountpoint=point)
    shell(f"ldb --db={point}/rocksdb checkconsistency")
    assert on_file_system.result().host["trimmed_pages"] > 0


@needs(*FILE_SYSTEM, "git", root=True)
def test_git_clones_and_packs_soundly(on_file_system: wa.VirtualSsd) -> None:
    point = mount_point(on_file_system)
    shell(f"{EXAMPLES}/databases/git.sh 50 20 2", mountpoint=point)
    shell(f"git -c safe.directory='*' -C {shlex.quote(str(point))}/clone-1 fsck --full --strict")
    assert on_file_system.host_bytes > 0


@needs(*FILE_SYSTEM, root=True)
@pytest.mark.parametrize(
    "load",
    [
        replace(FILESERVER.scaled(1 / 1000, 20 * MIB), threads=4),
        VARMAIL.scaled(1 / 5000, 4 * MIB),
        replace(oltp(1 / 50_000), requests=200),
        Cassandra(unit_bytes=65536, loops=16),
    ],
    ids=["fileserver", "varmail", "sysbench", "cassandra"],
)
def test_the_benchmarks_of_paper_1_run_on_files_that_were_made_before(
    on_file_system: wa.VirtualSsd, load: Load, request: pytest.FixtureRequest
) -> None:
    missing = {"sysbench": sysbench_oltp.missing, "cassandra": cassandra.missing}
    lacking = missing.get(request.node.callspec.id, list)()
    if lacking:
        pytest.skip(f"needs {' and '.join(lacking)}")
    with load.prepared(mount_point(on_file_system)) as run:
        on_file_system.begin()
        run()
        assert on_file_system.host_bytes > MIB


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
    assert messages.endswith("error: interrupted; no trace was written\n")
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
