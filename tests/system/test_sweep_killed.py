"""Sweeps whose processes are killed at any moment: nothing finished is lost, nothing twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
import tomli_w
from polars.testing import assert_frame_equal

import writeamp as wa
from clusters import Cluster, Space, cluster, kill, spaces
from forms import FULL
from patience import await_value
from sweeping import plan
from writeamp.studies.sweep.points import SweepDataset

ROUNDS = 20 if FULL else 3
# Each worker that is killed is replaced by one that imports everything anew.
WORKERS_KILLED = 20 if FULL else 3
# Each begins with a scheduler and four workers: its moments are those of one part, and of two.
SCHEDULERS_KILLED = ROUNDS if FULL else 2
ASKED = plan(
    {"replicas": 60, "axes": {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}},
    run={"writes": 100_000},
)
POINTS = 240
MOMENTS = random.Random(15)


class Sweeping:
    """The command as a process that may be killed, again and again, and what it left."""

    def __init__(self, folder: Path) -> None:
        """Write the sweep's file."""
        self.folder = folder
        self.out = folder / "out"
        self.have = 0
        (folder / "sweep.toml").write_text(tomli_w.dumps(ASKED))

    def start(self, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        """Run the command."""
        words = ["sweep", "sweep.toml", "--out", "out", *options]
        return subprocess.Popen(
            [sys.executable, "-m", "writeamp", *words],
            cwd=self.folder,
            env=os.environ | variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def await_parts(self, running: subprocess.Popen[bytes], more: int) -> None:
        """Wait until it has written so many parts, and then a moment."""
        before = self._parts()
        while running.poll() is None and len(self._parts() - before) < more:
            time.sleep(0.002)
        time.sleep(MOMENTS.uniform(0, 0.1))

    def look(self) -> None:
        """Check that what was there is there."""
        if (self.out / "writeamp-sweep.json").exists():
            now = SweepDataset.open(self.out).rows().height
            assert now >= self.have
            self.have = now

    def check_end(self, whole: pl.DataFrame) -> None:
        """Run what is left here: no point is there twice, and all are as of one run."""
        last = wa.sweep(ASKED, keep=self.out, runner=wa.runners.Here())
        assert (last.skipped, last.done, last.failed) == (self.have, POINTS - self.have, 0)
        rows = pl.concat([pl.read_parquet(part) for part in self._parts()])
        assert rows.height == rows["hash"].n_unique() == POINTS
        assert not list(self.out.glob(".writeamp-*"))
        assert_frame_equal(_found_by(last), whole)

    def _parts(self) -> set[Path]:
        return set(self.out.glob("part-*"))


def _found_by(sweep: wa.Sweep) -> pl.DataFrame:
    return sweep.to_frame().drop("elapsed_s")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Results of the sweep that nobody kills."""
    return _found_by(
        wa.sweep(ASKED, keep=tmp_path_factory.mktemp("whole") / "out", runner=wa.runners.Here())
    )


@pytest.mark.parametrize("options", ["--workers 1", "--workers 2", "--workers 1 --shard {}/3"])
def test_a_sweep_that_is_killed_goes_on_where_it_was(
    tmp_path: Path, options: str, whole: pl.DataFrame
) -> None:
    sweeping, seen = Sweeping(tmp_path), set()
    for at in range(ROUNDS):
        mark = uuid.uuid4().hex
        words = options.format(at % 3 + 1).split()
        running = sweeping.start(*words, WRITEAMP_TEST_MARK=mark)
        sweeping.await_parts(running, more=at % 3)
        running.kill()
        assert running.communicate()[1] == b""
        sweeping.look()
        seen.add(sweeping.have)
        await_value(lambda mark=mark: not _marked(mark))
    assert seen - {0, POINTS}, "it was never killed amid its points"
    sweeping.check_end(whole)


def _marked(mark: str) -> list[psutil.Process]:
    """Return the processes that a sweep has started, and that still run."""
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.environ().get("WRITEAMP_TEST_MARK") == mark:
                found.append(one)
    return found


@pytest.fixture
def places() -> Iterator[list[Space]]:
    """Give network namespaces, where root allows: for a scheduler and for two workers."""
    with spaces(3) as found:
        yield found


def _start(found: Cluster, places: list[Space]) -> list[subprocess.Popen[bytes]]:
    found.start_scheduler(host=places[0].host, within=places[0].prefix)
    return [
        found.start_worker("--host", one.host, "--nworkers", "2", within=one.prefix)
        for one in places[1:]
    ]


def test_workers_that_are_killed_are_survived(
    tmp_path: Path, places: list[Space], whole: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    # So many workers die that a point may be on three of them.
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "20")
    sweeping, killed = Sweeping(tmp_path), 0
    with cluster(tmp_path) as found:
        programs = _start(found, places)
        while sweeping.have < POINTS:
            running = sweeping.start("--scheduler", found.address)
            sweeping.await_parts(running, more=1)
            while running.poll() is None and killed < WORKERS_KILLED:
                killed += _kill_a_worker(programs)
                sweeping.look()
                time.sleep(MOMENTS.uniform(0, 0.2))
            assert running.communicate()[1] == b""
            assert running.returncode == 0
            sweeping.look()
    assert killed > 0
    sweeping.check_end(whole)


def _kill_a_worker(programs: list[subprocess.Popen[bytes]]) -> int:
    """Kill one of the processes that do the work; the program starts another one."""
    children = psutil.Process(MOMENTS.choice(programs).pid).children(recursive=True)
    workers = [one for one in children if "spawn_main" in " ".join(_words(one))]
    if not workers:
        return 0
    with suppress(psutil.NoSuchProcess):
        MOMENTS.choice(workers).kill()
    return 1


def _words(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def test_a_scheduler_that_is_killed_ends_the_sweep_with_a_sentence(
    tmp_path: Path, places: list[Space], whole: pl.DataFrame
) -> None:
    pytest.importorskip("distributed")
    sweeping: Sweeping = Sweeping(tmp_path)
    endings: list[Any] = []
    for at in range(SCHEDULERS_KILLED):
        folder = tmp_path / f"cluster-{at}"
        folder.mkdir()
        with cluster(folder) as found:
            _start(found, places)
            running = sweeping.start("--scheduler", found.address)
            sweeping.await_parts(running, more=1 + at % 2)
            kill(found.processes[0])
            said = running.communicate()[1].decode()
            endings.append((running.returncode, said))
            sweeping.look()
            if running.returncode == 0:
                break
            assert running.returncode == 2, said
            assert said.count("\n") == 1, said
            assert "scheduler" in said
    assert endings[0][0] == 2
    sweeping.check_end(whole)
