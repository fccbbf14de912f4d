"""Shards of a study: together they give the result of the whole study, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleets import split_fleet
from in_process import document, refusal, run
from sweeping import ONE_FAILS, file_of, plan, search
from writeamp.errors import WriteampError
from writeamp.reports.headlines.headline import headline
from writeamp.studies.dataset import KEY
from writeamp.studies.shards import Shard
from writeamp.studies.study import RunsDataset
from writeamp.studies.sweep.points import SweepDataset

SMALL = "--blocks 64 --pages-per-block 16 --op 0.3 --writes 20000 --replicas 1"
SHARDS = 7
# What differs between two runs of the same study.
OF_THE_CALL = ("out", "skipped", "done", "elapsed_s", "runs_s", "notes")


def in_shards(verb: str, arguments: str, folders: list[Path]) -> dict[str, Any]:
    """Run a study in shards, the last one first; return the result of all of them."""
    numbers = range(1, len(folders) + 1)
    parts = [
        document(verb, f"{arguments} --keep {folder} --shard {number}/{len(folders)}")
        for number, folder in reversed([*zip(numbers, folders, strict=True)])
    ]
    runs = {part["runs_of_all"] for part in parts}
    assert runs == {sum(part["runs"] for part in parts)}
    assert max(part["runs"] for part in parts) - min(part["runs"] for part in parts) <= 1
    merged = document(verb, f"{arguments} {' '.join(f'--keep {folder}' for folder in folders)}")
    stored = merged.get("store", merged)
    assert stored["skipped"] == runs.pop()
    return merged


def same(found: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a result that are equal in each call."""
    rows = [
        {key: value for key, value in row.items() if key != "host_pages_per_s"}
        for row in found.get("rows", ())
    ]
    return {key: value for key, value in found.items() if key not in OF_THE_CALL} | {"rows": rows}


@pytest.mark.parametrize("is_shared", [True, False], ids=["one folder", "seven folders"])
def test_seven_shards_of_a_sweep_are_the_whole_sweep(tmp_path: Path, *, is_shared: bool) -> None:
    folders = [tmp_path / ("all" if is_shared else str(number)) for number in range(SHARDS)]
    axes = {"op": [0.2, 0.3], "manager": ["single", "sepgc", "dac"]}
    command = f"{file_of(tmp_path, plan({'replicas': 3, 'axes': axes}))} --workers 1"
    merged = in_shards("sweep", command, folders)
    whole = document("sweep", f"{command} --keep {tmp_path / 'whole'}")
    assert same(merged) == same(whole)
    one, other = (
        SweepDataset.open(folder).rows().drop("elapsed_s")
        for folder in (folders[0], tmp_path / "whole")
    )
    assert one.equals(other)


@pytest.mark.parametrize("more", ["", "--capacity 1GB --writes 3e5"])
def test_shards_of_a_comparison_are_the_whole_comparison(tmp_path: Path, more: str) -> None:
    drive = more or "--blocks 64 --pages-per-block 16 --writes 20000"
    arguments = f"--managers single,sepgc,dac --workload zipf --op 0.2 --replicas 2 {drive}"
    merged = in_shards("compare", arguments, [tmp_path / str(number) for number in range(3)])
    whole = document("compare", arguments)
    assert same(merged) == same(whole)


@pytest.mark.parametrize("more", ["", "--together"])
def test_shards_of_a_fleet_are_the_whole_fleet(tmp_path: Path, more: str) -> None:
    fleet = split_fleet(tmp_path, volumes=3, requests=5000, size="1MiB")
    arguments = (
        f"{fleet.folder} --managers single,sepgc --op 0.2 --pages-per-block 16 --repeat 2 {more}"
    )
    merged = in_shards("volumes run", arguments, [tmp_path / str(number) for number in range(3)])
    assert same(merged) == same(document("volumes run", arguments))


def test_a_shard_prints_how_to_see_the_result(tmp_path: Path) -> None:
    done = run("compare", f"--managers single,dac {SMALL} --keep {tmp_path / 'a'} --shard 2/2")
    found = document(
        "compare", f"--managers single,dac {SMALL} --keep {tmp_path / 'a'} --shard 2/2"
    )
    assert (found["runs"], found["runs_of_all"]) == (1, 2)
    assert (found["done"], found["skipped"], found["failed"]) == (0, 1, 0)
    assert done.status == 0
    assert " ".join(done.out.split()).startswith(headline(found))
    assert RunsDataset.open(tmp_path / "a").rows()["name"].to_list() == ["dac"]


def test_a_run_that_failed_in_a_shard_is_counted_and_named(tmp_path: Path) -> None:
    command = f"{file_of(tmp_path, plan(ONE_FAILS))} --workers 1 --keep {tmp_path / 'a'}"
    status, out, err = run("sweep", f"{command} --shard 2/3")
    assert status == 1
    assert "has ended, but 1 of its 1 run failed" in " ".join(out.split())
    assert "warning: warmup 5000, replica 0 failed: warmup is 5000" in err
    status, out, err = run("sweep", f"{command} --shard 2/3 --json")
    assert (status, json.loads(out)["failed"], json.loads(out)["failed_before"]) == (1, 0, 1)
    assert "1 of the skipped runs failed in an earlier call" in err
    status, out, _ = run("sweep", f"{command} --shard 2/3 --retry-failed --json")
    assert (status, json.loads(out)["failed"], json.loads(out)["failed_before"]) == (1, 1, 0)


def test_volumes_too_small_for_a_policy_are_not_failed_runs_of_a_shard(tmp_path: Path) -> None:
    fleet = split_fleet(tmp_path, volumes=3, requests=5000, size="1MiB")
    command = f"{fleet.folder} --managers dac:regions=64,single --op 0.2 --keep {tmp_path / 'a'}"
    for done, skipped in ((3, 0), (0, 3)):
        found = document("volumes run", f"{command} --shard 1/2")
        counts = [found[key] for key in ("done", "skipped", "failed", "failed_before")]
        assert counts == [done, skipped, 0, 0]


def test_runs_of_further_folders_are_copied_to_the_first(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, manager in ((one, "single"), (other, "dac")):
        document("compare", f"--managers {manager} {SMALL} --keep {folder}")
    both = f"--managers single,dac {SMALL} --keep {one} --out {other}"
    assert document("compare", both)["skipped"] == 2
    assert RunsDataset.open(one).rows().select(KEY).is_duplicated().sum() == 0
    assert RunsDataset.open(one).rows().height == 2
    assert RunsDataset.open(other).rows().height == 1
    refusal("compare", f"{both} --keep {tmp_path / 'none'}", "none holds no results of a study")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--shard 0/7 --keep a", "shard is 0/7; the first number must be from 1"),
        ("--shard 8/7 --keep a", "shard is 8/7"),
        ("--shard 3 --keep a", "must be I/N, such as 2/7"),
        ("--shard 1/2", "--shard needs --keep DIR"),
        ("--shard 1/2 --keep a --plot wa.svg", "--plot cannot be combined with --shard"),
        ("--shard 1/2 --keep a --csv", "--csv cannot be combined with --shard"),
    ],
)
def test_a_shard_that_cannot_run_is_refused(arguments: str, words: str) -> None:
    refusal("compare", f"--managers single {SMALL} {arguments}", words)


def test_a_search_has_no_shards(tmp_path: Path) -> None:
    command = f"{file_of(tmp_path, search())} --keep {tmp_path / 'a'} --shard 1/2"
    refusal("sweep", command, "a search has no shards")


def slurm(task: int, first: int, last: int, count: int, step: int = 1) -> dict[str, str]:
    values = {"ID": task, "MIN": first, "MAX": last, "COUNT": count, "STEP": step}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in values.items()}


class TestSlurm:
    def test_the_tasks_of_an_array_are_the_shards(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for array in (range(7), range(1, 8), range(0, 14, 2)):
            shards = [
                Shard.of_slurm(slurm(task, array[0], array[-1], len(array), array.step))
                for task in array
            ]
            assert shards == [Shard(number, 7) for number in range(1, 8)]
        for name, value in slurm(2, 0, 2, 3).items():
            monkeypatch.setenv(name, value)
        done = run("compare", f"--managers single,dac {SMALL} --keep {tmp_path} --shard slurm")
        assert done.status == 0
        assert "note: this task of the Slurm array runs shard 3/3" in done.err

    @pytest.mark.parametrize(
        ("variables", "words"),
        [
            ({}, "SLURM_ARRAY_TASK_ID is not set"),
            (slurm(1, 1, 7, 7) | {"SLURM_ARRAY_TASK_MAX": "x"}, "SLURM_ARRAY_TASK_MAX is 'x'"),
            (slurm(1, 1, 1, 1), "has 1 task from 1 to 1; slurm needs at least two"),
            (slurm(17, 17, 18, 2), "has 2 tasks from 17 to 18; slurm needs"),
            (slurm(3, 1, 7, 3), "numbered from 0 or 1 without gaps"),
            (slurm(9, 1, 7, 7), "from 1 to 7"),
        ],
    )
    def test_an_array_whose_tasks_do_not_say_their_shard_is_refused(
        self, variables: dict[str, str], words: str
    ) -> None:
        with pytest.raises(WriteampError, match=words):
            Shard.of_slurm(variables)
