"""Fuzzing of the command and the library: they end, with a result or with one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from forms import FULL
from places import ROOT

FUZZER = ROOT / "tests" / "fuzz"


def test_no_command_line_call_or_file_ends_in_a_traceback(tmp_path: Path) -> None:
    # In a process of its own, because it forks; the short form is the same every time.
    how = ["--seconds", "120"] if FULL else ["--seconds", "60", "--calls", "120", "--seed", "5"]
    ended = subprocess.run(
        [sys.executable, FUZZER, *how],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "| all | " in ended.stdout
