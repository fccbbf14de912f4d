"""fio's jobs as the doctor reads them, against fio itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from patience import PATIENCE_S
from writeamp.fio.command_line import read_commands
from writeamp.fio.job import canonical
from writeamp.fio.job_file import read_job_file
from writeamp.fio.values import engine_names, option_names, size_of
from writeamp.fio.zipf import FioSkew

FIO = shutil.which("fio")
pytestmark = pytest.mark.skipif(FIO is None, reason="needs fio")

BLOCKS = 256
RANDOM = f"--name=j --ioengine=null --rw=randwrite --bs=4k --size={BLOCKS * 4}k"


def fio(folder: Path, *arguments: str) -> dict[str, Any]:
    """Run fio in a folder, and return its JSON."""
    out = folder / "out.json"
    command = ["fio", *arguments, f"--output={out}", "--output-format=json"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_S)
    text = out.read_text()
    found: dict[str, Any] = json.loads(text[text.index("{") :])
    return found


def passes_of(folder: Path, options: str) -> str:
    """Return what fio does in a second pass over the span."""
    fio(folder, *RANDOM.split(), *options.split(), "--write_iolog=log")
    offsets = [
        line.split()[3] for line in (folder / "log").read_text().splitlines() if " write " in line
    ]
    first, second = offsets[:BLOCKS], offsets[BLOCKS : 2 * BLOCKS]
    if len(set(first)) < BLOCKS or not second:
        return "once"
    return "same order" if first == second else "other order"


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--loops=2",
        "--loops=2 --randrepeat=0",
        "--loops=2 --randseed=7",
        "--loops=2 --norandommap",
        f"--io_size={BLOCKS * 8}k",
        "--time_based --runtime=1 --rate_iops=1000",
        "--time_based --runtime=1 --rate_iops=1000 --random_generator=lfsr",
        "--loops=2 --random_generator=lfsr",
        "--loops=2 --random_generator=tausworthe64",
        "--loops=2 --random_distribution=zipf:1.2",
    ],
)
def test_the_order_of_a_second_pass_is_that_of_fio(options: str, tmp_path: Path) -> None:
    (job,) = read_commands(f"fio {RANDOM} {options}", "").jobs
    assert job.passes == passes_of(tmp_path, options)


@pytest.mark.parametrize("blocks", [2500, 4096, 99_991])
@pytest.mark.parametrize("distribution", ["zipf:0.8", "zipf:1.2", "pareto:0.2"])
def test_skewed_blocks_are_those_of_fio(distribution: str, blocks: int, tmp_path: Path) -> None:
    size, count = f"{blocks * 4}k", 60_000
    fio(
        tmp_path,
        *f"--name=j --ioengine=null --filename=/dev/null --filesize={size} --size={size}".split(),
        *f"--io_size={count * 4}k --rw=randwrite --bs=4k --write_iolog=log".split(),
        f"--random_distribution={distribution}",
    )
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    written = np.array([int(one[3]) // 4096 for one in lines if one[2:3] == ["write"]])
    counts = np.bincount(written, minlength=blocks)
    skew = FioSkew.of(distribution, blocks)
    # The first rank comes most often, and its product is 0: its block is the start.
    hashes = np.arange(blocks, dtype=np.uint64) * np.uint64(0x61C8864680B583EB)
    places = (hashes + np.uint64(counts.argmax())) % np.uint64(blocks)
    assert set(np.flatnonzero(counts)) <= set(places.tolist())
    assert skew.touched_share(count) == pytest.approx(np.mean(counts > 0), abs=0.02)


@pytest.mark.parametrize("base", [1024, 1000])
def test_sizes_are_those_of_fio(base: int, tmp_path: Path) -> None:
    sizes = ["8k", "8kb", "8K", "8kib", "8ki", "4096", "4096b", "1m", "1mib", "1mb", "0x2000"]
    jobs = "".join(
        f"[j{place}]\nkb_base={base}\nioengine=null\nrw=write\nsize={size}\nbs={size}\n"
        for place, size in enumerate(sizes)
    )
    (tmp_path / "sizes.fio").write_text(jobs)
    found = fio(tmp_path, "sizes.fio")
    written = [one["write"]["io_bytes"] for one in found["jobs"]]
    assert [size_of(size, base) for size in sizes] == written


JOBS = """
; comment
[global]
ioengine=null
bs=4k,16k   # inline
size=64k
[a]
rw=write
[globals of the rest]
rw=write
bs=8k
[b]
numjobs=2
stonewall
[c]
bs=,32k
[d]
new_group
bsrange=4k-4k,64k-64k
"""


def test_sections_hand_down_what_they_do_in_fio(tmp_path: Path) -> None:
    (tmp_path / "jobs.fio").write_text(JOBS)
    results = {one["jobname"]: one for one in fio(tmp_path, "jobs.fio")["jobs"]}
    for job in read_job_file(JOBS, "jobs.fio").jobs:
        write = results[job.name]["write"]
        assert job.rw == "write"
        assert job.whole_span_bytes == write["io_bytes"]
        assert job.write_blocks[1] == write["io_bytes"] // write["total_ios"]
        assert job.phase == (0 if results[job.name]["groupid"] == 0 else 1)


def test_every_option_and_engine_of_fio_is_known_here() -> None:
    assert FIO is not None
    told = {}
    for asked in ("--cmdhelp=all", "--enghelp"):
        shown = subprocess.run(
            [FIO, asked], check=False, capture_output=True, text=True, timeout=PATIENCE_S
        )
        told[asked] = shown.stdout.splitlines()[1:]
    options = {canonical(one.split(":")[0]) for one in told["--cmdhelp=all"] if " : " in one}
    assert len(options) > 150
    assert options - option_names() == set()
    assert {one.strip() for one in told["--enghelp"] if one.strip()} - engine_names() == set()


def test_a_size_with_another_unit_is_read_by_fio_as_the_finding_says(tmp_path: Path) -> None:
    text = "[j]\nioengine=null\nrw=write\nsize=64\nbs=4q\n"
    (tmp_path / "a.fio").write_text(text)
    (entry,) = fio(tmp_path, "a.fio")["jobs"]
    assert entry["write"]["io_bytes"] // entry["write"]["total_ios"] == 4
    found = wa.doctor(tmp_path / "a.fio", simulate=False).findings
    assert "bs=4q is not a size; fio 3.33 reads 4" in [one.evidence for one in found]


@pytest.mark.parametrize("form", ["json", "json+"])
def test_output_of_fio_is_judged_with_its_warnings_before_it(form: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = "--name=j --ioengine=libaio --filename=f --rw=randwrite --size=1m --loops=3"
    printed = subprocess.run(
        ["fio", *options.split(), f"--output-format={form}", "--iodepth=4", "--verify=crc32c"],
        cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE_S, text=True,
    )  # fmt: skip
    out.write_text("fio: a warning, as it prints them\n" + printed.stdout)
    found = {one.id: one for one in wa.doctor(out, simulate=False).findings}
    assert found["looped-permutation"].severity == "warning"
    assert found["log-without-offsets"].severity == "note"
    assert "page-cache" in found
