"""Runs and splits of a fleet by processes: the same counters, whoever does them or dies."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from clusters import cluster
from forms import FULL
from in_process import document
from writeamp.runners import runner_of
from writeamp.settings.compared import PoliciesSettings
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.study import run_fleet

MANAGERS = "single,sepgc,sepbit"
OPTIONS = "--op 0.2 --pages-per-block 16 --repeat 3"
RUNS = 24


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    folder = tmp_path_factory.mktemp("fleet")
    made = wa.volumes.make(
        folder / "fleet.csv", volumes=8, requests=60_000, size="4MiB", size_sigma=0.5
    )
    return wa.volumes.split(made.path, folder / "fleet", trace_format="alibaba").fleet


def counters(fleet: Fleet, workers: int) -> pl.DataFrame:
    """Return what so many processes count."""
    policies = PoliciesSettings(managers=MANAGERS)
    with runner_of(workers=workers) as runner:
        found = run_fleet(fleet, policies, runner=runner, op=0.2, pages_per_block=16, repeat=3)
    return kept(found.rows)


@pytest.fixture(scope="module")
def whole(fleet: Fleet) -> pl.DataFrame:
    return counters(fleet, 1)


def kept(rows: pl.DataFrame) -> pl.DataFrame:
    names = ("volume", "manager", "wa", "host_pages", "flash_pages", "gc_programs", "erases")
    return rows.select(names).sort("volume", "manager")


def test_two_processes_find_what_one_finds(fleet: Fleet, whole: pl.DataFrame) -> None:
    assert whole.height == RUNS
    assert counters(fleet, 2).equals(whole)


def test_a_study_that_is_killed_goes_on(fleet: Fleet, whole: pl.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "results"
    words = f"{fleet.folder} --managers {MANAGERS} {OPTIONS} --out {out} --workers 1"
    command = [sys.executable, "-m", "writeamp", "volumes", "run", *words.split()]
    for _ in range(2):
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(list(out.glob("part-*")))
        while running.poll() is None and len(list(out.glob("part-*"))) <= before:
            time.sleep(0.002)
        running.kill()
        running.wait()
    said = document("volumes run", words)
    assert 0 < said["skipped"] <= RUNS
    assert said["failed"] == 0
    assert kept(pl.read_parquet(out / "*.parquet")).equals(whole)


def test_workers_of_a_scheduler_that_are_killed_change_nothing(
    fleet: Fleet, whole: pl.DataFrame, tmp_path: Path
) -> None:
    with cluster(tmp_path) as found:
        found.start_scheduler()
        workers = [found.start_worker("--no-nanny") for _ in range(2)]
        found.await_workers(2)
        out = tmp_path / "results"
        words = f"{fleet.folder} --managers {MANAGERS} {OPTIONS} --out {out}"
        command = [sys.executable, "-m", "writeamp", "volumes", "run", *words.split()]
        running = subprocess.Popen([*command, "--scheduler", found.address, "--json"],
                                   stdout=subprocess.DEVNULL)  # fmt: skip
        while running.poll() is None and not list(out.glob("part-*")):
            time.sleep(0.002)
        workers[0].kill()
        assert running.wait() == 0
    assert kept(pl.read_parquet(out / "*.parquet")).equals(whole)


ROUNDS = 20 if FULL else 4
REQUESTS = 6_000_000 if FULL else 2_000_000
# So few requests in a file that there is something to lose at any moment.
PIECE = 100_000
MOMENTS = random.Random(37)
# Files that a split writes here: a chunk of requests, one of volumes, and the facts of that.
FILES = 3 * REQUESTS // PIECE


def test_a_split_that_is_killed_goes_on_to_the_same_fleet(tmp_path: Path) -> None:
    trace = wa.volumes.make(tmp_path / "fleet.csv", volumes=30, requests=REQUESTS).path
    whole = wa.volumes.split(trace, tmp_path / "whole", trace_format="alibaba").fleet
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
