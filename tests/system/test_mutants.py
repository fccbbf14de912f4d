"""Seeded faults: some are found by the tests here, and all patches apply to the sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

SCRIPT = ROOT / "scripts/mutants.py"
PATCHES = sorted((ROOT / "tests/mutants").glob("*.patch"))

FEWEST = 30


@pytest.fixture(autouse=True)
def sources_of_git() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("mutants are seeded in the files that git knows")


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


def test_six_faults_of_python_are_found(tmp_path: Path) -> None:
    found = seeded("--short", "--folder", str(tmp_path))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[-1].startswith("6 of 6 mutants found")


def test_the_patches_of_all_mutants_apply(tmp_path: Path) -> None:
    found = seeded("--check", "--folder", str(tmp_path))
    assert (found.returncode, found.stdout) == (0, f"{len(PATCHES)} patches apply\n")
    assert len(PATCHES) >= FEWEST
