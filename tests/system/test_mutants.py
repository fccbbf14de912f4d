"""Seeded faults, which tests find, and fuzzing, which finds no other end than a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forms import FULL
from places import ROOT

SCRIPT = ROOT / "scripts/mutants.py"
PATCHES = sorted((ROOT / "tests/mutants").glob("*.patch"))

FEWEST = 30


needs_git = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="mutants are seeded in the files that git knows"
)


def seeded(*arguments: str) -> subprocess.CompletedProcess[str]:
    # The tests of a mutant are not those of the worker that asks for them.
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_XDIST")}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=own,
        check=False,
        text=True,
        capture_output=True,
    )


@needs_git
def test_six_faults_of_python_are_found(tmp_path: Path) -> None:
    found = seeded("--short", "--folder", str(tmp_path))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[-1].startswith("6 of 6 mutants found")


@needs_git
def test_the_patches_of_all_mutants_apply(tmp_path: Path) -> None:
    found = seeded("--check", "--folder", str(tmp_path))
    assert (found.returncode, found.stdout) == (0, f"{len(PATCHES)} patches apply\n")
    assert len(PATCHES) >= FEWEST


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
