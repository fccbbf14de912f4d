"""Twins of real and virtual drives: fio, NBD, counters around a trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import in_process
import writeamp as wa
from patience import await_value
from served import MOUNTING, PATH, needs
from smart_documents import intel
from writeamp.drives.devices.writing import seeded
from writeamp.learn.twin import one_number
from writeamp.learn.twin.families import USUAL
from writeamp.learn.twin.table import Grid
from writeamp.learn.twin.windows import read_windows

MIB = 1 << 20
SHAPE: dict[str, Any] = {"size": "64MiB", "pages_per_block": 16, "op": 0.2, "manager": "sepgc"}
needs_block_devices = needs("fio", *MOUNTING, root=True)


@contextmanager
def drive(folder: Path, **more: Any) -> Iterator[wa.VirtualSsd]:
    """Give a drive that keeps its logs in `logs`; a counter of 0 would be one that it has not."""
    asked: dict[str, Any] = {**SHAPE, "precondition": "none", "counters": folder / "logs", **more}
    with wa.VirtualSsd("generic", **asked) as it:
        if it.mount_point is None:
            first = f"fio --name=f --ioengine=nbd --uri={it.uri} --rw=write --bs=1M --size=2M"
            subprocess.run([*first.split(), "--output=/dev/null"], check=True, cwd=folder)
        else:
            (it.mount_point / "one").write_bytes(b"1" * MIB)
            os.sync()
        yield it


@contextmanager
def block_device(ssd: wa.VirtualSsd, folder: Path) -> Iterator[str]:
    """Show a drive as a block device, without a file system."""
    disk = folder / "disk"
    disk.touch()
    environment = {**os.environ, "PATH": PATH}

    def run(*command: str) -> str:
        return subprocess.check_output(command, env=environment, text=True).strip()

    with ExitStack() as undo:
        undo.enter_context(
            subprocess.Popen(["nbdfuse", disk, "--unix", ssd.unix_socket], env=environment)
        )
        undo.callback(run, "fusermount3", "-u", str(disk))
        await_value(lambda: disk.stat().st_size == 64 * MIB)
        device = run("losetup", "--find", "--show", "--direct-io=on", str(disk))
        undo.callback(run, "losetup", "--detach", device)
        yield device


@needs("fio")
def test_fio_and_counters_tell_what_nbd_does(tmp_path: Path) -> None:
    with drive(tmp_path) as ssd:
        before = ssd.counters()
        asked = f"--target {ssd.uri} --counters {tmp_path / 'logs'} --out {tmp_path / 'fio'}"
        in_process.document("twin measure", f"{asked} --phases 1")
        after = ssd.counters()
        own = f"--target {ssd.uri} --out {tmp_path / 'nbd'} --yes-destroy-data {ssd.uri}"
        in_process.document("twin measure", f"{own} --phases 1")
        by_socket = asked.replace(ssd.uri, str(ssd.unix_socket))
        coarse = in_process.run("twin measure", f"{by_socket} --size 32MiB")
        assert coarse.status == 2
        assert "At least 25 steps are needed" in coarse.err
    found, expected = (read_windows(tmp_path / name) for name in ("fio", "nbd"))
    assert found.host_bytes.tolist() == expected.host_bytes.tolist()
    assert found.wa == pytest.approx(expected.wa, rel=0.03)
    assert found.sequential_factor == pytest.approx(1.0)
    programmed = [sum(one["programs"].values()) * one["page_bytes"] for one in (before, after)]
    assert found.flash_bytes.sum() == programmed[1] - programmed[0]


@needs_block_devices
def test_a_device_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    out = tmp_path / "t.parquet"
    with drive(tmp_path) as ssd, block_device(ssd, tmp_path) as device:
        asked = f"--target {device} --counters {tmp_path / 'logs'} --phases 1 --out {out}"
        command = [sys.executable, "-m", "writeamp", "twin", "measure", *asked.split()]
        with subprocess.Popen(command, env={**os.environ, "PATH": PATH}) as first:
            await_value(
                lambda: first.poll() is not None or (out.exists() and measured_parts(out) >= 2)
            )
            assert first.poll() is None
            first.send_signal(signal.SIGKILL)
        parts, written = measured_parts(out), ssd.counters()["host"]["written_bytes"]
        assert 2 <= parts < 6
        # fio may have to end first, and holds the lock until then.
        await_value(lambda: in_process.run("twin measure", asked).status == 0)
        more = ssd.counters()["host"]["written_bytes"] - written
        subprocess.run(["mkfs.ext4", "-q", device], check=True, env={**os.environ, "PATH": PATH})
        refused = in_process.run("twin measure", f"{asked}.other")
        assert refused.status == 2
        assert f"--yes-destroy-data {device}" in refused.err
    found = read_windows(out)
    assert found.host_bytes[1:].sum() == 48 * MIB
    assert more < (48 + 16) * MIB  # nothing was filled again
    assert found.wa[0] == pytest.approx(1.31, rel=0.05)
    assert found.wa[1] == pytest.approx(2.76, rel=0.05)


@needs_block_devices
def test_a_file_on_a_drive_is_measured_with_what_its_file_system_writes(tmp_path: Path) -> None:
    with drive(tmp_path, mount=tmp_path / "mnt", size="128MiB", op=0.1) as ssd:
        file, out = tmp_path / "mnt" / "file", tmp_path / "t.parquet"
        asked = f"--target {file} --counters {tmp_path / 'logs'} --out {out} --phases 1 "
        asked += "--size 88MiB"
        done = in_process.run("twin measure", asked)
        assert done.status == 0, done.err
        assert "88 MiB of the drive's" in done.err
        file.unlink()
        for _ in range(2):  # the first refusal leaves no empty file on which the second could go on
            again = in_process.run("twin measure", f"{asked} --json")
            assert again.status == 2
            assert "is missing" in again.err
            assert not file.exists()
        assert ssd.wa > 1.01
    found = read_windows(out)
    assert found.sequential_factor == pytest.approx(1.0, abs=0.02)
    assert found.host_bytes.sum() == pytest.approx((88 + 66) * MIB, rel=0.02)
    # What is free on the drive is spare space, so that collection begins late.
    assert found.wa[0] < 1.01
    assert 1.005 < found.wa[1] < 1.5


def measured_parts(out: Path) -> int:
    """Return how many parts of a chain, the fill with them, are in a file."""
    return pl.read_parquet(out).height


@needs("fio")
def test_fio_draws_by_its_seed(tmp_path: Path) -> None:
    def offsets(seed: int) -> list[str]:
        log = tmp_path / f"{seed}.log"
        subprocess.run(
            ["fio", "--name=f", f"--filename={tmp_path / 'f'}", "--size=4M", "--rw=randwrite",
             "--norandommap", "--io_size=64k", f"--write_iolog={log}", *seeded(seed)],
            check=True, capture_output=True, cwd=tmp_path,
        )  # fmt: skip
        found = [line.split()[-2] for line in log.read_text().splitlines() if " write " in line]
        log.unlink()
        return found

    assert offsets(1) == offsets(1) != offsets(2)


def test_a_virtual_drive_is_measured_through_nbd_as_a_simulated_one(tmp_path: Path) -> None:
    shape = {"size": "16MiB", "pages_per_block": 16, "op": 0.2, "manager": "sepgc"}
    out, simulated = tmp_path / "virtual.parquet", tmp_path / "simulated.parquet"
    with wa.VirtualSsd("generic", precondition="none", **shape) as drive:
        asked = f"--target {drive.unix_socket} --chunks --phases 3 --out {out}"
        document = in_process.document("twin measure", asked)
        assert drive.host_bytes >= document["host_bytes"]
        # All windows are there: the same command has nothing to do.
        again = in_process.document("twin measure", asked)
        assert again["windows"] == document["windows"]
        other = in_process.run("twin measure", f"--target {drive.uri} --out {tmp_path / 'x'}")
        assert other.status == 2
        assert f"--yes-destroy-data {drive.uri}" in other.err
        other = in_process.run("twin measure", f"{asked} --op 0.3")
        assert other.status == 2
        assert "--op is for simulated drives only" in other.err
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in shape.items())
    in_process.document(
        "twin measure", f"--target generic {options} --chunks --phases 3 --out {simulated}"
    )
    # The same drive under other draws of the same loads, which few large chunks show more of.
    found, expected = read_windows(out).wa, read_windows(simulated).wa
    assert found[:6] == pytest.approx(expected[:6], rel=0.08)
    assert found[6:] == pytest.approx(expected[6:], rel=0.35)
    assert read_windows(out).sequential_factor == pytest.approx(1.0)


def test_a_real_drives_wa_under_a_trace_tells_its_op(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    pages = np.random.default_rng(4).integers(0, 600, 3000)
    trace = tmp_path / "load.csv"
    rows = [f"{at},{page * 4096},4096,W" for at, page in enumerate(pages)]
    trace.write_text("time,offset,length,op\n" + "\n".join(rows) + "\n")
    form = "columns:time=time:s,offset=offset:bytes,length=length:bytes,op=op:W=write"
    drive = {"pages_per_block": 8, "op": 0.2, "manager": "sepgc"}
    real = wa.simulate(trace=str(trace), trace_format=form, spread=False, **drive)
    families = [family for family in USUAL if family[0].family == ("sepgc", "greedy")]
    monkeypatch.setattr(one_number, "USUAL", families)
    monkeypatch.setattr(one_number, "TRACE_GRID", Grid(unit_pages=(8,), op=(0.1, 0.17, 0.29)))
    files = [tmp_path / name for name in ("before.json", "after.json")]
    for day, file in enumerate(files, 1):
        file.write_text(json.dumps(intel(10_000 * day, round(10_000 * real.wa) * day, 4.0 * day)))
    asked = f"--trace {trace} --format {form} --out {tmp_path / 'real.toml'}"
    around = f"--counters {files[0]} --counters {files[1]}"
    document = in_process.document("twin fit", f"{asked} {around}")
    assert document["op_low"] < 0.2 < document["op_high"]
    assert document["windows"][0]["wa"] == pytest.approx(real.wa, rel=0.001)
    refused = in_process.run("twin fit", asked)
    assert refused.status == 2
    assert "--counters twice" in refused.err
