"""Makes the samples: each is read from the repository's tests, or made by a verb."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import files
import numpy as np
import polars as pl

import blackbox_tables
import drive_logs
import synthetic_captures as synthetic
import writeamp as wa
from pastes import DOCUMENTS
from places import ROOT
from trace_files import TEXT_SAMPLES
from writeamp import traces

# Rows of text formats: {0} counts the rows, {1} is an offset in bytes, {2} in sectors.
_ROWS = {
    "msr": "12816637{0:02}03000000,hm,0,Write,{1},8192,2833\n",
    "spc": "0,{2},8192,W,{0}.5\n",
    "mqsim": "{0}000 0 {2} 16 0\n",
    "ssdsim": "{0}000 0 {2} 16 0\n",
    "disksim": "{0}.001 0 {2} 16 0\n",
    "blkparse": "8,0 0 1 {0}.5 5 Q W {2} + 16 [x]\n",
    "alibaba": "0,W,{1},8192,15778081443{0:05}\n",
    "tencent": "153832{0:04},{2},16,1,0\n",
    "iolog": "{0} /dev/sda write {1} 8192\n",
    "systor": "14560951{0:02}.133076000,0.000806000,W,0,{1},8192\n",
    "fiu": "8996819579{0:04} 20782 gzip {2} 16 W 6 0 56f11b711d91a065a2b6458eca924523\n",
    "libcachesim": "{0},0.5,2a,8192,{2}\n",
    "ftrace": "x-5 [000] .... {0}.5: block_rq_complete: 8,0 W () {2} + 16 [0]\n",
    "biosnoop": "{0}.5 x 5 sda W {2} 8192 0.7\n",
    "xperf": "DiskWrite, {0}, x (5), 7, 0x1, 0x{1:x}, 0x2000, 9, 0, 0x6, 9\n",
}
_FIRST_LINES = {
    "libcachesim": "version,time,op,size,lbn\n",
    "iolog": "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n",
}
_BINARY = {
    "vscsi": struct.pack("<IIIHHQQ", 1, 4096, 1, 0x2A, 0x100, 8, 1000) * 3,
    "blktrace": struct.pack(
        "<IIQQIIIIIHH", 0x65617407, 1, 1000, 8, 4096, 0x20001, 7, 0x800010, 0, 0, 0
    )
    * 3,
}
_UNTRIED = set(traces.FORMATS) - {*_ROWS, *_BINARY, *TEXT_SAMPLES, "parquet"}
assert not _UNTRIED, f"formats that are not tried: {_UNTRIED}"

_DEVICE = """[geometry]
channels = 1
blocks_per_plane = 64
pages_per_block = 16
[management]
op = 0.3
layout = "flat"
"""
_SWEEP = """verb = "{verb}"
[sweep]
{design}
[sweep.axes]
op = [0.2, 0.3]
{axis}
[device]
blocks = 48
pages_per_block = 8
[run]
{run}
"""
_FAMILIES = """[[family]]
name = "ours"
models = '^INTEL'
host = [{ id = 225, unit = "32 MiB" }]
flash = [{ id = 243, unit = "32 MiB" }]
source = "mine"
"""
_FIO = """[global]
ioengine=libaio
direct=1
include canary
[fill]
filename=/dev/nvme0n1
rw=write
bs=128k
[job]
stonewall
filename=/dev/nvme0n1
rw=randwrite
bs=4k
iodepth=32
random_distribution=zipf:1.1
runtime=600
time_based
"""
_SCRIPT = """#!/bin/sh
. ./canary
for dev in /dev/nvme0n1; do
  blkdiscard $dev
  fio --name=a --filename=$dev --rw=randwrite --bs=4k --size=${SIZE:-10G} --iodepth=16 --direct=1
done
"""
_FIO_RESULT = {
    "fio version": "fio-3.33",
    "global options": {"filename": "/dev/nvme0n1", "direct": "1"},
    "jobs": [
        {
            "jobname": "a",
            "job options": {"rw": "randwrite", "bs": "4k", "size": "10G", "iodepth": "16"},
            "write": {"io_bytes": 10 << 30, "runtime": 60_000, "bw": 178_956, "iops": 44_739.2},
        }
    ],
}
_TWIN = """[geometry]
blocks_per_plane = 321
pages_per_block = 32
page_bytes = 4096

[management]
op = 0.25
layout = "flat"

[twin]
logical_pages = 8192
error = 0.02
op = 0.25
op_low = 0.24
op_high = 0.26
families = [{ manager = "single", victims = "greedy", weight = 1.0 }]
misfit = 1.0
noise = 0.006
separation_probability = 0.0
classes = [["single, greedy"]]
sequential_factor = 1.05
drive = "synthetic"
capacity_bytes = 33554432
learnt_from = ["run:0"]
fills = [{ phase = "run:0", span_gib = 0.03125, factor = 1.05 }]

[[twin.candidates]]
manager = "single"
victims = "greedy"
op = 0.25
erase_unit_pages = 32
weight = 1.0
"""
_PHASES = (("sequential", 8192, 1.05), ("uniform", 32768, 2.66))
_TINY = "--blocks 64 --pages-per-block 8 --op 0.3 --writes 600 --replicas 1"
_COUNTED = "tests/data/cases/drives/26-claudio-mx500"
# Each makes what is below its role's folder, or beside it.
_MADE = (
    f"simulate {_TINY} --save-config run/simulate.toml --report page/a.html",
    f"simulate {_TINY} --seed 2 --report page/b.html",
    f"simulate {_TINY} --timed --save-config run/simulate-timed.toml",
    f"simulate {_TINY} --timed --rb-capture capture/a.vcd",
    f"compare {_TINY} --managers single,sepgc --out kept/runs --save-config run/compare.toml",
    "endurance --blocks 48 --pages-per-block 8 --op 0.3 --w-max 2 --replicas 1 "
    "--save-config run/endurance.toml",
    "sweep run sweep/simulate.toml --out swept/a --workers 1",
    "volumes make --out fleet.csv --volumes 3 --requests 90 --size 128KiB",
    "volumes split fleet.csv --out fleet/a --threads 1",
    f"measure watch {ROOT}/{_COUNTED}/2021-01-31.txt --db history/a.db --once",
    f"measure watch {ROOT}/{_COUNTED}/2021-03-08.txt --db history/a.db --once",
    "blackbox train measured/a.parquet --targets wa --out model/a.model",
    "blackbox train measured/a.parquet --targets wa --model quantile-tree --out model/b.model",
    "twin plan --capacity 16MiB --phases 1 --out plan/a.toml",
    "twin measure --target generic --blocks 64 --pages-per-block 8 --phases 1 --out windows/a",
    "blackbox collect --target generic --size 16MiB --points 1 --time 20ms --workers 1 "
    "--out measured/collected.parquet",
    "trace convert trace/iolog trace/a.parquet",
    "volumes make --out trace/b.csv.zst --volumes 2 --requests 40 --size 64KiB",
)
# What these import is then imported once, for all processes.
_WARM = (
    "predict --sweep op=0.1:0.3:2 --plot warm.svg",
    "predict --sweep op=0.1:0.3:2 --plot warm.html",
    "doctor job/a.fio --no-simulate",
    "doctor job/a.sh",
    "lifetime --db history/a.db",
    "measure rb capture/pins.vcd --dies 2 --page-bytes 4KiB --read-us 50 --program-us 300 "
    "--erase-us 2000 --host-bytes 100KiB",
    "volumes info fleet/a",
    "measure counters snap/x25-m",
)
_RESULTS = (
    f"simulate {_TINY} --json",
    f"simulate {_TINY} --seed 2 --json",
    f"simulate {_TINY} --timed --json",
    "predict --op 0.2 --json",
    f"compare {_TINY} --managers single,sepgc --json",
)


def make(folder: Path, command: Callable[[str], str]) -> None:
    """Make all samples; `command` runs a command line and returns what it printed."""
    os.chdir(folder)
    for role in files.ROLES:
        Path(role).mkdir()
    _traces()
    _texts()
    _drives()
    kinds = (synthetic.Kind("program", 90, 300, 20), synthetic.Kind("erase", 6, 2000, 60))
    found = synthetic.pins(kinds, ["rb0", "rb1"], 1)
    synthetic.write_vcd(Path("capture/pins.vcd"), found)
    synthetic.write_sr(Path("capture/pins.sr"), found, 1000)
    synthetic.write_sigrok_csv(Path("capture/sigrok.csv"), found, 10_000)
    synthetic.write_saleae_csv(Path("capture/saleae.csv"), found)
    synthetic.write_saleae_binary(Path("capture/saleae"), found)
    table = blackbox_tables.related(60).with_columns(target=pl.lit("a"))
    table.write_parquet("measured/a.parquet")
    table.head(20).write_csv("measured/b.csv")
    blackbox_tables.related(40, seed=5).write_csv("measured/other.csv")
    for line in (*_MADE, *_WARM):
        command(line)
    wa.compiled(lambda page: page)
    for number, line in enumerate(_RESULTS):
        Path(f"result/{line.split()[0]}{number}.json").write_text(command(line))
    Path("windows/b.csv").write_text(
        "host_bytes,flash_bytes\n16777216,16777216\n4194304,9000000\n8388608,20000000\n"
    )
    shutil.copy("history/a.db", "snap/history.db")
    np.save("trace/c.npy", np.arange(6))


def _traces() -> None:
    for name, row in _ROWS.items():
        pages = [at * 5 % 11 for at in range(16)]
        lines = (row.format(at, 4096 * page, 8 * page) for at, page in enumerate(pages))
        Path("trace", name).write_text(_FIRST_LINES.get(name, "") + "".join(lines))
    for name, content in _BINARY.items():
        Path("trace", name).write_bytes(content)
    Path("trace/msr.csv.gz").write_bytes(gzip.compress(Path("trace/msr").read_bytes(), mtime=0))
    data = ROOT / "tests" / "data"
    for path in (*data.glob("traces/*"), *data.glob("cases/traces/*")):
        Path("trace", path.name).write_bytes(b"".join(path.read_bytes().splitlines(True)[:40]))


def _texts() -> None:
    for path in (ROOT / "python" / "writeamp" / "devices" / "profiles").glob("*.toml"):
        shutil.copy(path, Path("device", path.name))
    for number in range(4):
        Path(f"device/small{number}.toml").write_text(_DEVICE)
    runs = {
        "simulate": ("", 'manager = ["single", "sepgc"]', "writes = 600\nreplicas = 1"),
        "compare": ("", "[policy]\nmanagers = ['single']", "writes = 600\nreplicas = 1"),
        "endurance": ('design = "random"\nsamples = 2', "", "w_max = 2\nreplicas = 1"),
    }
    for verb, (design, axis, run) in runs.items():
        text = _SWEEP.format(verb=verb, design=design, axis=axis, run=run)
        Path(f"sweep/{verb}.toml").write_text(text)
    Path("families/a.toml").write_text(_FAMILIES)
    Path("device/twin.toml").write_text(_TWIN)
    _phases()
    for path in (ROOT / "examples" / "fio").iterdir():
        shutil.copy(path, "job")
    Path("job/a.fio").write_text(_FIO)
    Path("job/a.sh").write_text(_SCRIPT)
    Path("job/a.json").write_text(json.dumps(_FIO_RESULT, indent=1))


def _phases() -> None:
    tables, rows = ['drive = "synthetic"\n'], []
    for number, (pattern, pages, wa_of_phase) in enumerate(_PHASES):
        tables.append(f'[[phases]]\npattern = "{pattern}"\nspan_gib = 0.03125\n')
        for at in range(0, pages + 1, pages // 32):
            counts = {"host_bytes": at * 4096, "media_bytes": round(at * 4096 * wa_of_phase)}
            rows.append({"phase": number, "pattern": pattern, "span_gib": 0.03125, **counts})
    found = pl.DataFrame(rows)
    found.filter(pl.col("host_bytes") > 0).with_columns(
        drive=pl.lit("synthetic"), run=pl.lit("run"), details=pl.lit("")
    ).write_csv("phases/a.csv")
    Path("phases/b.toml").write_text("\n".join(tables))
    found.drop("pattern", "span_gib").write_csv("readings/a.csv")


def _drives() -> None:
    for name, text in DOCUMENTS.items():
        Path("snap", name).write_text(text)
    for name, content in drive_logs.LOGS.items():
        Path("snap", name).write_bytes(content)
    for path in (ROOT / "tests" / "data" / "cases" / "drives").iterdir():
        if path.is_dir():
            shutil.copytree(path, Path("snaps", path.name))
            for each in path.iterdir():
                shutil.copy(each, Path("snap", f"of-{path.name[3:]}-{each.name}"))
        else:
            shutil.copy(path, "snap")
    for name in ("smart-json", "ocp-v2", "id-ctrl"):
        Path("snaps/logs").mkdir(exist_ok=True)
        Path("snaps/logs", f"{name}.json").write_bytes(drive_logs.LOGS[name])
