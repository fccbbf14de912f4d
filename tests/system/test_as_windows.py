"""Without what only Linux has: all modules can be imported; what needs Linux is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from places import ROOT, TRACE

SMALL = "--blocks 64 --pages-per-block 32 --op 0.2 --writes 20000"
RUN = (
    f"simulate {SMALL} --save-config small.toml",
    f"compare {SMALL} --managers single,sepgc --replicas 1 --plot wa.png",
    f"answer {SMALL} --workload uniform --replicas 1",
    f"trace info {TRACE}",
    "examples copies",
    "predict --op 0.2",
    "volumes make --volumes 2 --requests 1000 --out fleet.csv",
)
REFUSED = (
    "serve --device ssd-v --size 64MiB --run true",
    "top drive.sock",
    "live /dev/null",
    "trace record /dev/null --out trace.parquet",
    "measure all",
    "measure save /dev/null --out drive.json",
    "measure run /dev/null -- true",
    "lifetime /dev/null",
)


def test_only_what_needs_linux_is_refused(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT / "tests/support"), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, ROOT / "tests/support/as_windows.py", *RUN, *REFUSED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    printed = json.loads(found.stdout)
    assert printed["errors"] == []
    for line in RUN:
        status, _, err = printed["done"][line]
        assert status == 0, (line, err)
    for line in REFUSED:
        status, out, err = printed["done"][line]
        assert (status, out) == (2, ""), line
        assert err.startswith("writeamp: "), line
        assert err.endswith(" needs Linux; this system is win32\n"), (line, err)
    assert list(tmp_path.glob(".*")) == []  # neither drafts nor folders are left
