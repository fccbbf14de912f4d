"""Commands on drives, measured by counters: a virtual drive's, and one that is interrupted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import in_process
from served import FIO, SMALL, needs, serve

WRITEAMP = f"{sys.executable} -m writeamp"


@needs("fio")
def test_a_run_equals_the_drive(tmp_path: Path) -> None:
    fill = "fio --name=f --ioengine=nbd --uri=$uri --rw=write --bs=64k --size=60M --output=f.txt"
    run = f"{WRITEAMP} measure run logs --settle 2s --json -- {FIO.format(size='240M')} > run.json"
    done = serve(f"{SMALL} --counters logs --json", tmp_path, run=f"{fill} && {run}")
    assert done.status == 0, done.err
    whole = done.document
    found = json.loads((tmp_path / "run.json").read_text())
    filled = 60 << 20
    assert found["host_bytes"] == whole["host_bytes"] - filled
    assert found["wa"] == pytest.approx(
        (whole["flash_bytes"] - filled) / (whole["host_bytes"] - filled), rel=1e-9
    )
    assert found["wa"] > 1.1
    assert found["findings"] == []


def test_ctrl_c_ends_the_command_and_keeps_what_was_read(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "smart.json").write_text('{"critical_warning": 0, "data_units_written": 2000}')
    (logs / "ocp.json").write_text('{"Physical media units written": {"hi": 0, "lo": 3000000000}}')
    arguments = ["measure", "run", str(logs), "--settle", "100ms", "--out", "kept", "--json"]
    begun = tmp_path / "begun"
    command = ["--", "sh", "-c", f"touch {begun}; exec sleep 60"]
    done = in_process.interrupted([*arguments, *command], tmp_path, when=begun.exists)
    found = json.loads(done.out)
    assert done.status == 130
    assert (found["interrupted"], found["wa"]) == (True, None)
    assert "write at least" in found["reason"]
    assert sorted(one.name for one in (tmp_path / "kept").iterdir()) == [
        "after.json",
        "before.json",
    ]
