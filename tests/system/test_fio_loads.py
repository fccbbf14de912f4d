"""Requests of fio jobs as loads, compared with fio's own logs of I/O."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import writeamp as wa
from forms import FULL
from patience import PATIENCE_S
from writeamp._engine import Load
from writeamp.fio.command_line import read_commands
from writeamp.fio.workload import fio_load

# Addresses are compared to the sector.
SECTOR = 512
NAMES = {0: "write", 1: "trim", 2: "read", 3: "sync"}
# Jobs whose requests fio draws the same in each run. Together they use each option that is
# modelled, but for those of several jobs, which are below.
SAME = {
    "map": "--rw=randwrite --bs=4k --size=1m",
    "uneven size": "--rw=randwrite --bs=4k --size=1003k",
    "in order": "--rw=write --bs=64k --size=1m",
    "in order with gaps": "--rw=write:4k --bs=4k --size=1m",
    "no map": "--rw=randwrite --bs=4k --size=1m --norandommap --io_size=2500k",
    "loops without a map": "--rw=randwrite --bs=4k --size=1m --norandommap --loops=3",
    "loops of a mix without a map": "--rw=randrw --rwmixread=30 --bs=4k --size=1m --norandommap "
    "--loops=2",
    "loops of zones": "--rw=randwrite --bs=4k --size=1m --loops=2 "
    "--random_distribution=zoned:60/10:30/20:10/70",
    "loops that are partly random": "--rw=randwrite --bs=4k --size=1m --percentage_random=50 "
    "--loops=2",
    "loops and io_size": "--rw=randwrite --bs=4k --size=1m --loops=2 --io_size=1500k --norandommap",
    "64 bits": "--rw=randwrite --bs=4k --size=1m --random_generator=tausworthe64",
    "shift register": "--rw=randwrite --bs=4k --size=1000k --random_generator=lfsr --loops=2",
    "loops": "--rw=randwrite --bs=4k --size=1m --loops=3",
    "loops with a seed": "--rw=randwrite --bs=4k --size=1m --loops=2 --randseed=7",
    "loops of a fixed seed": "--rw=randwrite --bs=4k --size=1m --loops=3 --randrepeat=0 "
    "--randseed=7",
    "io_size": "--rw=randwrite --bs=4k --size=1m --io_size=2500k",
    "number_ios": "--rw=randwrite --bs=4k --size=1m --number_ios=77 --loops=2",
    "mix": "--rw=randrw --rwmixread=30 --bs=8k,4k --size=1m",
    "mix in order": "--rw=rw --rwmixwrite=30 --bs=4k --size=1m --io_size=3m",
    "bssplit": "--rw=randwrite --bssplit=4k/50:16k/30:64k/20 --size=4m",
    "bsrange": "--rw=randwrite --bsrange=4k-32k --size=4m",
    "unaligned sizes": "--rw=randwrite --bsrange=512-5000 --bs_unaligned --size=1m --norandommap",
    "sizes by order": "--rw=randwrite --bs_is_seq_rand=1 --bs=8k,4k --percentage_random=50 "
    "--size=1m --norandommap",
    "partly random": "--rw=randwrite --percentage_random=60 --bs=4k --size=1m",
    "alignment": "--rw=randwrite --bs=4k --blockalign=16k --size=1m --norandommap",
    "zipf": "--rw=randwrite --bs=4k --size=100m --random_distribution=zipf:0.8",
    "zipf of 1.8 TB": "--rw=randwrite --bs=4k --size=1800g --random_distribution=zipf:0.8 "
    "--number_ios=100000",
    "zipf above 1, 100 GB": "--rw=randwrite --bs=4k --size=100g --number_ios=100000 "
    "--random_distribution=zipf:1.2:0.7",
    "pareto": "--rw=randwrite --bs=4k --size=100m --random_distribution=pareto:0.2",
    "normal": "--rw=randwrite --bs=4k --size=10m --random_distribution=normal:20:0.3",
    "zoned": "--rw=randwrite --bs=4k --size=10m --random_distribution=zoned:60/10:30/20:10/",
    "zoned_abs": "--rw=randwrite --bs=4k --size=10m "
    "--random_distribution=zoned_abs:60/1m:30/2m:10/7m",
    "trims and writes in order": "--rw=trimwrite --bs=8k --size=1m --loops=2",
    "trims and writes": "--rw=randtrimwrite --bssplit=4k/50:16k/50 --size=1m",
    "strides": "--rw=write --bs=4k --size=1m --zonemode=strided --zonesize=64k --zonerange=64k "
    "--zoneskip=32k",
    "random strides": "--rw=randwrite --bs=4k --size=1m --zonemode=strided --zonesize=64k "
    "--zonerange=128k",
    "flushes": "--rw=randwrite --bs=4k --size=1m --fsync=5",
    "runs": "--rw=randwrite:8 --bs=4k --size=1m",
    "repeated places": "--rw=randwrite:8 --rw_sequencer=identical --bs=4k --size=1m",
    "offset": "--rw=randwrite --bs=4k --offset=256k --size=512k",
}
# Jobs that only time ends, of which the first requests are compared.
TIMED = {
    "time": "--rw=randwrite --bs=4k --size=1m",
    "time, shift register": "--rw=randwrite --bs=4k --size=1m --random_generator=lfsr",
    "time, in order": "--rw=write --bs=4k --size=1m",
}
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")


def logged(options: str, folder: Path) -> list[tuple[str, int, int]]:
    """Return the requests that fio logs, which a device of no size serves."""
    log = folder / "io.log"
    command = ["fio", "--name=a", "--filename=file", "--ioengine=null", f"--write_iolog={log}"]
    subprocess.run(
        [*command, *shlex.split(options)],
        check=True,
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    requests = []
    for line in log.read_text().splitlines():
        _, *words = line.split()
        if len(words) == 4 and words[1] in NAMES.values():
            is_flush = words[1] == "sync"
            requests.append((words[1], 0 if is_flush else int(words[2]), int(words[3])))
    return [(op, at, 0 if op == "sync" else count) for op, at, count in requests]


def drawn(
    options: str, pages: int, runs: int | None = 1, sectors: int | None = None
) -> list[tuple[str, int, int]]:
    """Return the requests of the load, up to so many written sectors, on a drive of `sectors`."""
    jobs = fio_load(None, f"fio --name=a --filename=file {options}", runs)
    assert jobs is not None
    load = Load.spec(jobs.text, sectors or drive_sectors(options), SECTOR)
    ops, firsts, counts, heads, tails = (
        column.astype(np.int64) for column in load.requests(seed=1, pages=pages)
    )
    offsets, lengths = firsts * SECTOR + heads, counts * SECTOR - heads - tails
    return [
        (NAMES[op], offset, length)
        for op, offset, length in zip(ops.tolist(), offsets.tolist(), lengths.tolist(), strict=True)
    ]


def drive_sectors(options: str) -> int:
    """Return the sectors up to the end of the jobs, where the file of the null engine ends."""
    jobs = read_commands(f"fio --name=a {options}", "").jobs
    ends = [
        (job.size("offset") or 0)
        + (job.size("offset_increment") or 0) * (job.copies - 1)
        + (job.size("size") or 0)
        for job in jobs
    ]
    return -(-max(ends) // SECTOR)


@pytest.mark.parametrize("options", SAME.values(), ids=SAME)
def test_a_load_has_the_requests_that_fio_logs(options: str, tmp_path: Path) -> None:
    assert drawn(options, 2**40) == logged(options, tmp_path)


@pytest.mark.parametrize("options", TIMED.values(), ids=TIMED)
def test_a_load_that_only_time_ends_begins_as_fio_does(options: str, tmp_path: Path) -> None:
    limited = f"{options} --time_based --runtime=1 --rate_iops=2000"
    requests = logged(limited, tmp_path)
    assert len(requests) > 1000
    written = sum(count for _, _, count in requests) // SECTOR
    assert drawn(limited, written)[: len(requests)] == requests


# Options in per cent of a file whose size is no multiple of a block.
PARTS = [
    "--rw=write --bs=4k --offset=33% --size=33%",
    "--rw=randwrite --bs=8k --size=29% --loops=2",
    "--rw=write --bs=4k --offset=5000 --offset_increment=33% --size=30% --numjobs=2",
    "--rw=write --bs=4k --offset=10% --offset_increment=5000 --size=20% --numjobs=2",
    "--rw=randwrite --bs=4k --offset=90% --size=50% --io_size=40%",
]


@pytest.mark.parametrize("options", PARTS)
def test_parts_of_a_drive_are_those_of_fio(options: str, tmp_path: Path) -> None:
    size = 1003 << 10
    (tmp_path / "file").write_bytes(bytes(size))
    log = logged(f"{options} --ioengine=psync", tmp_path)
    requests = drawn(options, 2**40, sectors=size // SECTOR)
    assert sorted(requests) == sorted(log)


def test_jobs_at_the_same_time_mix_by_their_rates_and_keep_their_order(tmp_path: Path) -> None:
    jobs = "--name=b --rw=write --bs=4k --size=256k --offset=512k --rate_iops=100"
    both = f"--rw=randwrite --bs=4k --size=512k --rate_iops=300 {jobs}"
    requests = drawn(both, 2**40)
    first = [request for request in requests if request[1] < 512 << 10]
    second = [request for request in requests if request[1] >= 512 << 10]
    assert first == logged("--rw=randwrite --bs=4k --size=512k", tmp_path)
    assert second == [("write", (512 << 10) + 4096 * n, 4096) for n in range(64)]
    # Three of four requests are those of the faster job, until it ends.
    assert sum(offset < 512 << 10 for _, offset, _ in requests[:160]) == 120
    # After stonewall, jobs wait for the end of those before.
    in_turn = drawn(both.replace("--name=b", "--name=b --stonewall"), 2**40)
    assert in_turn == first + second


def test_trims_of_a_job_are_those_of_fio(tmp_path: Path) -> None:
    trims = "--rw=randtrim --bs=8k --size=1m --loops=2"
    requests = drawn(f"{trims} --name=b --stonewall --rw=write --bs=8k --size=8k", 2**40)
    assert requests == [*logged(trims, tmp_path), ("write", 0, 8192)]


def test_copies_of_a_job_have_seeds_and_offsets_of_their_own(tmp_path: Path) -> None:
    options = "--rw=randwrite --bs=4k --size=256k --offset_increment=256k --numjobs=2"
    requests, log = drawn(options, 2**40), logged(options, tmp_path)
    for start in (0, 256 << 10):
        of_copy = [
            [request for request in both if start <= request[1] < start + (256 << 10)]
            for both in (requests, log)
        ]
        assert len(of_copy[0]) == 64
        assert of_copy[0] == of_copy[1]


def test_a_job_without_a_seed_has_the_distribution_of_fio(tmp_path: Path) -> None:
    options = "--rw=randrw --rwmixread=30 --bs=4k --size=4m --randrepeat=0"
    ours, theirs = drawn(options, 2**40), logged(options, tmp_path)
    assert {offset for _, offset, _ in ours} == {offset for _, offset, _ in theirs}
    reads = [sum(op == "read" for op, _, _ in requests) for requests in (ours, theirs)]
    assert reads == pytest.approx([0.3 * 1024] * 2, rel=0.2)
    assert ours != theirs


@pytest.mark.parametrize("size", ["100g", "480g", "1800g"] if FULL else ["100g", "1800g"])
def test_the_share_of_addresses_is_that_of_fio(size: str, tmp_path: Path) -> None:
    options = f"--rw=randwrite --bs=4k --size={size} --random_distribution=zipf:1.2"
    touched = len({offset for _, offset, _ in logged(f"{options} --number_ios=300000", tmp_path)})
    gib = int(size.removesuffix("g"))
    result = wa.simulate(
        workload="fio-zipf:theta=1.2", capacity=gib << 30, writes=300_000, op=0.2, warmup=0
    )
    addresses = result.to_dict()["addresses"]
    assert addresses["count"] == (gib << 30) // 4096
    assert addresses["touched_share"] * addresses["count"] == pytest.approx(touched, rel=0.02)


@pytest.mark.parametrize("name", ["loops", "no map", "bssplit", "mix", "trims and writes", "zoned"])
def test_wa_of_a_job_is_that_of_its_log(name: str, tmp_path: Path) -> None:
    options = SAME[name].replace("1m", "32m").replace("4m", "32m").replace("10m", "32m")
    logged(f"{options} --write_iolog={tmp_path / 'io.log'}", tmp_path)
    drive = {"size": "32MiB", "op": 0.2, "pages_per_block": 32, "warmup": 0, "repeat": 1}
    job = wa.simulate(fio_run=f"fio --name=a --filename=file {options}", **drive)
    log = wa.simulate(trace=tmp_path / "io.log", mapping="as-is", spread=False, **drive)
    assert job.wa == pytest.approx(log.wa, rel=0.01)
    assert job.host_pages == log.host_pages
