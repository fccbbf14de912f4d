"""The benchmarks of paper 1's Fig. 5: work on files in Table 5's sizes, and refusals."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from writeamp_papers import Bench
from writeamp_papers.park2017 import benchmarks
from writeamp_papers.park2017.benchmarks import Measured, judged
from writeamp_papers.park2017.cassandra import cassandra
from writeamp_papers.park2017.file_loads import FILESERVER, VARMAIL, FileLoad
from writeamp_papers.park2017.sysbench_oltp import oltp

KIB, GIB = 2**10, 2**30
SMALL = [
    replace(FILESERVER, files=12, file_bytes=40 * KIB, append_bytes=8 * KIB, loops=60, threads=3),
    replace(VARMAIL, files=12, loops=60, threads=3),
]


def sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir()}


@pytest.mark.parametrize("load", SMALL, ids=["fileserver", "varmail"])
def test_files_are_replaced_one_by_one_and_stay_as_many(load: FileLoad, tmp_path: Path) -> None:
    with load.prepared(tmp_path) as run:
        made = sizes(tmp_path)
        assert set(made.values()) == {load.file_bytes}
        run()
    left = sizes(tmp_path)
    assert len(left) == len(made) == load.files
    # Each round makes a file and appends to a file. Another thread may have removed some of the
    # last files.
    made_last = load.files + load.loops
    assert made_last - load.threads < int(max(left)) <= made_last
    new = [size for name, size in left.items() if name not in made]
    assert len(new) > load.files / 2
    assert all((size - load.new_bytes) % load.append_bytes == 0 for size in new)
    assert len(set(new)) > 1


@pytest.mark.parametrize("load", SMALL, ids=["fileserver", "varmail"])
def test_one_thread_leaves_the_same_files_under_the_same_seed(
    load: FileLoad, tmp_path: Path
) -> None:
    found = []
    for place, seed in (("a", 1), ("b", 1), ("c", 2)):
        folder = tmp_path / place
        folder.mkdir()
        with replace(load, threads=1, seed=seed).prepared(folder) as run:
            run()
        found.append(sizes(folder))
    assert found[0] == found[1] != found[2]


def test_every_message_is_synchronised_and_no_file_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised: list[int] = []
    monkeypatch.setattr(os, "fsync", synchronised.append)
    for load, calls in zip(SMALL, (0, 2 * 60), strict=True):
        folder = tmp_path / str(calls)
        folder.mkdir()
        with load.prepared(folder) as run:
            run()
        assert len(synchronised) == calls


def test_an_error_of_one_thread_ends_the_load(tmp_path: Path) -> None:
    load = replace(SMALL[0], loops=10**9)
    with load.prepared(tmp_path) as run:
        next(tmp_path.iterdir()).unlink()
        with pytest.raises(FileNotFoundError):
            run()


def test_sizes_and_printed_run_lengths_are_the_drive_s_share_of_table_5() -> None:
    share = 2 / 215
    fileserver = FILESERVER.scaled(share, 4 * GIB)
    assert (fileserver.files, fileserver.threads) == (744, 50)
    assert fileserver.loops * fileserver.file_bytes == 4 * GIB
    varmail = VARMAIL.scaled(share, GIB)
    assert (varmail.files, varmail.file_bytes, varmail.threads) == (6698, 16 * KIB, 16)
    table = oltp(share)
    assert (table.records, table.requests, table.threads) == (418_605, 9302, 8)
    store = cassandra(share)
    assert store.later_bytes == pytest.approx(6e6 * KIB * share, rel=0.01)
    # The log contains each update once. Half of the 60 M operations are updates.
    assert 4 * store.unit_bytes * store.loops == pytest.approx(30e6 * KIB * share, rel=0.1)
    assert (oltp(share, 3).requests, cassandra(share, 3).loops) == (27_907, 3 * store.loops)


def test_a_load_is_judged_at_each_utilization_and_by_its_rise() -> None:
    items = judged("toy", {0.6: Measured(1.0, 2.0), 0.9: Measured(1.25, 2.0)})
    assert [item.verdict for item in items] == ["match", "differs", "match"]
    assert [item.ours for item in items] == [1.0, 1.25, 0.8]
    flat = judged("toy", {0.6: Measured(1.0, 2.0), 0.9: Measured(1.0, 2.0)})
    assert [item.verdict for item in flat] == ["match", "match", "differs"]


def without_root(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(benchmarks, "require", lambda *_: None)
    return "needs root"


def without_programs(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    return "not installed"


@pytest.mark.parametrize("without", [without_root, without_programs])
def test_a_machine_that_cannot_run_the_benchmarks_says_so_of_each(
    without: Callable[[pytest.MonkeyPatch], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    why = without(monkeypatch)
    steps: list[str] = []
    found = benchmarks.run(Bench(full=True, figures=True, step=steps.append))
    assert (found.items, found.figures) == ([], {})
    assert len(found.skipped) == 4
    assert all(why in sentence or "not installed" in sentence for sentence in found.skipped)
    assert steps == [f"skipped: {sentence}" for sentence in found.skipped]


def test_the_short_form_runs_no_benchmark() -> None:
    found = benchmarks.run(Bench())
    assert (found.items, found.skipped) == ([], [])
