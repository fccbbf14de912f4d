"""Twins of virtual drives through NBD, and of real ones by counters around a trace."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import in_process
import writeamp as wa
from smart_documents import intel
from writeamp.learn.twin import of_trace
from writeamp.learn.twin.families import USUAL
from writeamp.learn.twin.table import Grid
from writeamp.learn.twin.windows import read_windows


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
        assert "--op is of a simulated drive" in other.err
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
    monkeypatch.setattr(of_trace, "USUAL", USUAL[6:7])
    monkeypatch.setattr(of_trace, "GRID", Grid(unit_pages=(8,), op=(0.1, 0.17, 0.29)))
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
    assert "--counters before and --counters after" in refused.err
