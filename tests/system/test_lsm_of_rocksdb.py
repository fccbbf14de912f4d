"""Bytes of tables and logs per application byte: of `lsm`, and of RocksDB's own statistics."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

import writeamp as wa
from forms import FULL
from served import MOUNTING, needs

KEY_BYTES, VALUE_BYTES = 16, 4000
ENTRY_BYTES = KEY_BYTES + VALUE_BYTES
KEYS, OVERWRITES_BEFORE, OVERWRITES = 20_000, 40_000, 80_000
TABLE_BYTES = 256 * 1024
# RocksDB waits for compactions whenever one is due, so results do not depend on the machine's
# speed. A memtable of this size holds as many entries as a table.
DB_BENCH = (
    *("db_bench", f"--num={KEYS}", f"--key_size={KEY_BYTES}", f"--value_size={VALUE_BYTES}"),
    *("--compression_type=none", "--statistics=true", f"--target_file_size_base={TABLE_BYTES}"),
    *(f"--write_buffer_size={TABLE_BYTES * 7 // 8}", "--allow_concurrent_memtable_write=false"),
    *("--level_compaction_dynamic_level_bytes=true", "--max_bytes_for_level_multiplier=10"),
    *("--level0_file_num_compaction_trigger=4", f"--max_bytes_for_level_base={4 * TABLE_BYTES}"),
    *("--hard_pending_compaction_bytes_limit=1", "--soft_pending_compaction_bytes_limit=1"),
)


def db_bench(folder: Path, benchmark: str, seed: int, *more: str) -> dict[str, int]:
    """Run a benchmark until compactions are complete; return the counts of RocksDB."""
    options = (f"--db={folder}", f"--seed={seed}", f"--benchmarks={benchmark},waitforcompaction")
    done = subprocess.run(
        [*DB_BENCH, *options, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    assert done.returncode == 0, done.stdout
    return {name: int(count) for name, count in re.findall(r"(\S+) COUNT : (\d+)", done.stdout)}


def lsm(log: str) -> float:
    """Return the host bytes per application byte of the same configuration."""
    logical_pages = 2 * KEYS
    # The log has two memtables.
    table_pages = round(TABLE_BYTES / ENTRY_BYTES)
    place_pages = logical_pages - (2 * table_pages if log == "cyclic" else 0)
    load = f"lsm:table={table_pages / logical_pages},used={KEYS / place_pages},log={log}"
    result = wa.simulate(
        workload=load,
        op=0.28,
        logical_pages=logical_pages,
        pages_per_block=64,
        warmup=12 * OVERWRITES_BEFORE,
        writes=12 * (OVERWRITES_BEFORE + OVERWRITES),
        replicas=1,
    )
    factor: float = result.to_dict()["application"]["host_bytes_per_application_byte"]
    return factor


@pytest.mark.skipif(not FULL, reason="`make test-full` runs it")
@needs(*MOUNTING, "db_bench", root=True)
def test_lsm_writes_as_many_bytes_as_rocksdb_counts() -> None:
    with tempfile.TemporaryDirectory(prefix="wa-test-") as folder:
        mount = Path(folder, "mnt")
        with wa.VirtualSsd("tlc-datacenter", size="512MiB", mount=mount) as drive:
            database = mount / "rocksdb"
            db_bench(database, "filluniquerandom", 1)
            existing = "--use_existing_db=true"
            db_bench(database, "overwrite", 2, existing, f"--writes={OVERWRITES_BEFORE}")
            drive.begin()
            counts = db_bench(database, "overwrite", 3, existing, f"--writes={OVERWRITES}")
            result = drive.result()
    written = counts["rocksdb.bytes.written"]
    assert written == pytest.approx(OVERWRITES * ENTRY_BYTES, rel=0.01)
    tables = counts["rocksdb.flush.write.bytes"] + counts["rocksdb.compact.write.bytes"]
    logged = counts["rocksdb.wal.bytes"]
    assert lsm("none") == pytest.approx(tables / written, rel=0.05)
    assert lsm("cyclic") == pytest.approx((tables + logged) / written, rel=0.05)
    # They reached the drive. The file system adds its journal, metadata and parts of pages.
    assert 1 < result.host_bytes / (tables + logged) < 1.5
