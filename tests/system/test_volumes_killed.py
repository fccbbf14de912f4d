"""Splits that are killed at any moment: the same command goes on, to the same fleet."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import polars as pl

import writeamp as wa
from forms import FULL
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.settings import FleetSettings, SplitSettings

ROUNDS = 20 if FULL else 4
REQUESTS = 6_000_000 if FULL else 2_000_000
# So few requests in a file that there is something to lose at any moment.
PIECE = 100_000
MOMENTS = random.Random(37)
# Files that a split writes here: a chunk of requests, one of volumes, and the facts of that.
FILES = 3 * REQUESTS // PIECE


def test_a_split_that_is_killed_goes_on_to_the_same_fleet(tmp_path: Path) -> None:
    settings = FleetSettings(volumes=30, requests=REQUESTS)
    trace = wa.volumes.make(tmp_path / "fleet.csv", settings).path
    whole = wa.volumes.split(trace, tmp_path / "whole", SplitSettings("alibaba")).fleet
    words = ["volumes", "split", "fleet.csv", "--format", "alibaba", "--out", "killed"]
    small = (
        f"from writeamp.volumes import gathering, reading; reading.CHUNK_REQUESTS = {PIECE}; "
        f"gathering._FILE_REQUESTS = {PIECE}; from writeamp.cli import main; main()"
    )
    killed = 0
    for at in range(1, ROUNDS + 1):
        running = subprocess.Popen(
            [sys.executable, "-c", small, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.DEVNULL,
        )
        _await_files(running, tmp_path / "killed", FILES * at // (ROUNDS + 1))
        running.kill()
        killed += running.wait() != 0
    assert killed > ROUNDS // 2
    subprocess.run(
        [sys.executable, "-c", small, *words], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL
    )
    found = Fleet.open(tmp_path / "killed")
    facts = pl.exclude("file", "first_row")
    assert found.volumes.select(facts).equals(whole.volumes.select(facts))
    for name in whole.volumes["volume"]:
        assert found.volume(name).requests.equals(whole.volume(name).requests)
    left = {one.name for one in found.folder.iterdir()}
    assert not any(name.startswith(".") for name in left), left


def _await_files(running: subprocess.Popen[bytes], folder: Path, files: int) -> None:
    """Wait until a split has written so many files, and then a moment."""
    while running.poll() is None and _files(folder) < files:
        time.sleep(0.002)
    time.sleep(MOMENTS.uniform(0, 0.05))


def _files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))
