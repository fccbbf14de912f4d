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
MOMENTS = random.Random(37)


def test_a_split_that_is_killed_goes_on_to_the_same_fleet(tmp_path: Path) -> None:
    settings = FleetSettings(volumes=30, requests=6_000_000 if FULL else 2_000_000)
    trace = wa.volumes.make(tmp_path / "fleet.csv", settings).path
    started = time.monotonic()
    whole = wa.volumes.split(trace, tmp_path / "whole", SplitSettings("alibaba")).fleet
    took_s = time.monotonic() - started + 1  # to start
    words = ["volumes", "split", "fleet.csv", "--format", "alibaba", "--out", "killed"]
    # Chunks and files so small that there is something to lose at any moment.
    small = (
        "from writeamp.volumes import gathering, reading; reading.CHUNK_REQUESTS = 100_000; "
        "gathering._FILE_REQUESTS = 100_000; from writeamp.cli import main; main()"
    )
    killed = 0
    for _ in range(ROUNDS):
        running = subprocess.Popen(
            [sys.executable, "-c", small, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.DEVNULL,
        )
        time.sleep(MOMENTS.uniform(0.3, 1) * took_s)
        running.kill()
        killed += running.wait() != 0
    assert killed
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
