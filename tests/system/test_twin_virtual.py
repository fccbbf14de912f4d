"""Twins of virtual drives: measured through NBD by their own counters, as a host does it."""

from __future__ import annotations

from pathlib import Path

import in_process
import pytest
import writeamp as wa
from writeamp.twin.windows import read_windows


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
