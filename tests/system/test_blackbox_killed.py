"""Collections of measurements whose process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from collecting import Formula
from writeamp.blackbox.collection import collect
from writeamp.blackbox.designs import Design
from writeamp.blackbox.ledger import Ledger


def test_a_killed_process_loses_nothing_but_the_line_under_way(tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    script = """
import os, sys
from collecting import Formula
from writeamp.blackbox.collection import collect
from writeamp.blackbox.designs import Design

def die(done, of):
    if done == 6:
        os.kill(os.getpid(), 9)

collect(Formula(), out=sys.argv[1], design=Design("grid", 10), progress=die)
"""
    killed = subprocess.run(
        [sys.executable, "-c", script, str(out)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert killed.returncode == -9
    assert not out.exists()
    journal = tmp_path / "m.parquet.journal"
    with journal.open("a") as file:
        file.write('{"target": "torn')
    rest = collect(Formula(), out=out, design=Design("grid", 10))
    assert (rest.done, rest.skipped) == (4, 6)
    assert Ledger.read(out).height == 10
    assert not journal.exists()
