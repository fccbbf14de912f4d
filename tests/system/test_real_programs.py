"""Real programs on the virtual drive: they find their data again, and the drive counts them."""

from __future__ import annotations

import hashlib
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import writeamp as wa
from patience import PATIENCE_S
from places import EXAMPLES
from served import needs
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
