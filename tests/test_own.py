"""Placements and victim policies of users, in Python: how they are named, and what they do."""

from __future__ import annotations

import importlib
import json
import pickle
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import numpy as np
import pytest
import writeamp as wa
from writeamp import own
from writeamp.cli.options import policy_completer
from writeamp.own import names
from writeamp.own.compiling import has_numba
from writeamp.registry.specs import Spec

ROOT = Path(__file__).resolve().parent.parent
SEPBIT = f"{ROOT}/examples/my_placement.py:SepBIT"
DRIVE: dict[str, Any] = {"blocks": 300, "pages_per_block": 32, "op": 0.25}
RUN: dict[str, Any] = {**DRIVE, "writes": 40_000, "replicas": 1}
LOAD = "zipf:s=0.99,trim=0.05"

needs_numba = pytest.mark.skipif(
    not has_numba(), reason="needs Numba: pip install 'writeamp[numba]'"
)


class Regions(wa.Placement):
    """The regions of `dac` (Chiang, Lee & Chang 1999)."""

    victims = "cost-benefit"

    def __init__(self, drive: own.DriveFacts, regions: int = 6) -> None:
        self.streams = regions
        self.region: list[int | None] = [None] * drive.logical_pages

    def on_write(self, page: int, now: int) -> int:
        before = self.region[page]
        self.region[page] = 0 if before is None else min(before + 1, self.streams - 1)
        return self.region[page]

    def on_trim(self, page: int) -> None:
        self.region[page] = None

    def on_migrate(self, page: int, victim: Any) -> int:
        self.region[page] = max((self.region[page] or 0) - 1, 0)
        return self.region[page]


class AllAtOnce(Regions):
    """The same, told of all pages of a victim by one call."""

    def on_migrate_all(self, pages: np.ndarray, victim: Any) -> list[int]:
        return [self.on_migrate(page, victim) for page in pages.tolist()]


class Handles(wa.Placement):
    """`nvme-fdp:handles=2`: the host's groups, and one stream for all that collection moves."""

    streams = 3
    migration_streams = (2,)
    hears = "groups"

    def on_write(self, page: int, now: int, group: int) -> int:
        return group % 2

    def on_migrate(self, page: int, victim: Any) -> int:
        return 2


class Greedy(wa.VictimPolicy):
    """The built-in `greedy`: of equals, the block that lost a page longest ago."""

    def choose(self, candidates: Any, now: int) -> int:
        most = np.flatnonzero(candidates.invalid_pages == candidates.invalid_pages.max())
        return most[np.argmin(candidates.changed_at[most])]


class Oldest(wa.VictimPolicy):
    """The built-in `fifo`."""

    def choose(self, candidates: Any, now: int) -> int:
        return 0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a file with a placement, and go to its folder."""
    path = tmp_path / "mine.py"
    path.write_text(
        textwrap.dedent(
            """
            import writeamp as wa

            class Mine(wa.Placement):
                def __init__(self, drive, groups=2, share: float = 0.5):
                    self.streams = groups

                def on_write(self, page, now):
                    return page % self.streams

                def on_migrate(self, page, victim):
                    return victim.stream

            class Broken(Mine):
                def on_write(self, page, now):
                    return 1 // (1000 - now)

            class Oldest(wa.VictimPolicy):
                def choose(self, candidates, now):
                    return candidates.closed_at.argmin()
            """
        )
    )
    return path


@pytest.fixture
def forgetting() -> Iterator[None]:
    """Forget the names that a test gives."""
    before = dict(names._named)
    yield
    names._named.clear()
    names._named.update(before)


def counted(manager: Any, load: str = LOAD, **more: Any) -> dict[str, int]:
    found = wa.simulate(workload=load, manager=manager, **(RUN | more))
    return {**found.causes, "erases": found.erases, "pages": found.host_pages}


@pytest.mark.parametrize("layout", ["flat", "striped", "striped-per-lun", "static"])
def test_sepbit_in_thirty_lines_is_the_built_in_one_to_the_last_counter(layout: str) -> None:
    drive = {
        "device": "eagletree",
        "blocks": 640,
        "pages_per_block": 16,
        "op": 0.6,
        "layout": layout,
    }
    found = [
        wa.simulate(workload=LOAD, manager=manager, writes=30_000, replicas=1, **drive)
        for manager in (f"{SEPBIT}:compiled=no", "sepbit")
    ]
    assert found[0].causes == found[1].causes
    assert found[0].causes["gc"] > 1000
    assert list(found[0].erases_of_block) == list(found[1].erases_of_block)


def test_the_lines_of_the_example_are_about_thirty() -> None:
    text = (ROOT / "examples" / "my_placement.py").read_text()
    of_class = text[text.index("class SepBIT") :]
    assert len([line for line in of_class.splitlines() if line.strip()]) <= 35


@needs_numba
def test_a_compiled_placement_does_what_the_same_class_does_in_python() -> None:
    assert counted(SEPBIT) == counted(f"{SEPBIT}:compiled=no") == counted("sepbit")


@pytest.mark.parametrize(
    ("mine", "built_in"),
    [
        (Regions, "dac"),
        (wa.manager(Regions, regions=4), "dac:regions=4"),
        (AllAtOnce, "dac"),
    ],
    ids=str,
)
def test_a_class_does_what_the_same_scheme_does_in_rust(mine: Any, built_in: str) -> None:
    assert counted(mine) == counted(built_in)


def test_a_placement_hears_what_the_host_says_of_its_pages() -> None:
    load = "hot-cold:f=0.1,r=0.9"
    found = [
        wa.simulate(workload=load, manager=one, victims="greedy", **RUN)
        for one in (Handles, "nvme-fdp:handles=2")
    ]
    assert found[0].causes == found[1].causes
    assert found[0].hints == "groups"


@pytest.mark.parametrize("manager", ["single", "sepgc", "sepbit", Regions])
def test_a_victim_policy_of_python_does_what_the_same_does_in_rust(manager: Any) -> None:
    assert counted(manager, victims=Oldest) == counted(manager, victims="fifo")
    # Which of equals lost a page first in one tick of the clock, no column says.
    pages = [counted(manager, victims=one)["gc"] for one in (Greedy, "greedy")]
    assert pages[0] == pytest.approx(pages[1], rel=0.01)


def test_a_placement_may_name_a_victim_policy_of_python() -> None:
    class Mine(Regions):
        victims = Oldest

    assert counted(Mine) == counted("dac", victims="fifo")


def test_threads_batches_and_replicas_change_nothing() -> None:
    runs = [
        wa.compare(workload=LOAD, managers=[Regions, "dac"], **(RUN | {"replicas": 3}), **more)
        for more in ({"threads": 1}, {"threads": 3}, {"batch_pages": 7})
    ]
    seen = [[row.wa for row in run.rows] for run in runs]
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][0] == seen[0][1]


def test_a_timed_run_and_lives_of_drives_ask_it_too() -> None:
    load = "io:write_size=16k"
    timed = [
        wa.simulate("ssd-v", workload=load, manager=one, size="64MiB", op=0.8, time="20ms")
        for one in (Regions, "dac")
    ]
    assert timed[0].to_dict()["causes"] == timed[1].to_dict()["causes"]
    lives = [
        wa.endurance(workload="uniform", manager=one, w_max=6, replicas=2, **DRIVE)
        for one in (Regions, "dac")
    ]
    assert lives[0].wa == lives[1].wa


def test_a_decorator_gives_a_name_which_no_other_may_have(forgetting: None) -> None:
    wa.placement("my-regions")(Regions)
    wa.victim_policy("my-oldest")(Oldest)
    assert counted("my-regions:regions=4", victims="my-oldest") == counted(
        "dac:regions=4", victims="fifo"
    )
    assert str(wa.manager(Regions)) == "my-regions"
    rows = in_process.document("list", "managers --json")["managers"]
    assert rows[-1]["name"] == "my-regions"
    assert rows[-1]["summary"] == "The regions of `dac` (Chiang, Lee & Chang 1999)."
    assert rows[-1]["defaults"] == {"regions": "6"}
    refused = [
        lambda: wa.placement("sepbit"),
        lambda: wa.victim_policy("greedy"),
        lambda: wa.placement("Two Words"),
        lambda: wa.placement("my-regions")(Handles),
        lambda: wa.placement("another")(Greedy),
        lambda: wa.placement("another")(wa.Placement),
    ]
    words = ["built-in", "built-in", "small letters", "Regions", "no placement", "has no on_write"]
    for call, word in zip(refused, words, strict=True):
        with pytest.raises(wa.WriteampError, match=word):
            call()


def test_an_installed_package_offers_its_placements_by_name(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    package = file.parent / "papers-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: papers\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[writeamp.placements]\npaper = mine:Mine\nsepbit = mine:Mine\nlost = mine:Lost\n"
        "[writeamp.victims]\npaper-oldest = mine:Oldest\n"
    )
    monkeypatch.syspath_prepend(file.parent)
    importlib.invalidate_caches()
    names.installed.cache_clear()
    try:
        assert counted("paper", victims="paper-oldest") == counted("paper", victims="fifo")
        assert Spec.of("managers", "paper:groups=3").params["groups"] == "3"
        assert own.find("managers", "sepbit") is None
        listed = in_process.run("list", "managers").out
        assert "  paper " in listed
        assert "cannot be used: lost of the package papers cannot be imported" in " ".join(
            listed.split()
        )
        assert "paper-oldest" in in_process.run("simulate", "--victims oldest").err
    finally:
        names.installed.cache_clear()


def test_a_file_is_named_by_its_path_and_takes_parameters(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    drive = "--blocks 300 --pages-per-block 32 --op 0.25 --writes 20000 --workload uniform"
    for spec in ("mine.py:Mine:groups=3,share=1", "mine.py:Mine(share=1.0,groups=3)"):
        found = in_process.document("simulate", f"--manager '{spec}' {drive} --json --replicas 1")
        assert found["manager"] == spec
    compared = in_process.document(
        "compare",
        f"--managers mine.py:Mine:groups=3,share=0.2,sepgc,mine.py:Mine {drive} "
        "--victims mine.py:Oldest --replicas 1",
    )
    names_of = [row["manager"] for row in compared["rows"]]
    assert names_of == ["mine.py:Mine:groups=3,share=0.2", "sepgc", "mine.py:Mine"]
    assert {row["victims"] for row in compared["rows"]} == {"mine.py:Oldest"}
    assert wa.manager("mine.py:Mine") == wa.manager("mine.py:Mine", groups=2, share="0.50")
    assert wa.manager("mine.py:Mine") != wa.manager("mine.py:Mine", groups=3)
    twice = in_process.run("compare", f"--managers mine.py:Mine,mine.py:Mine(groups=2) {drive}")
    assert (twice.status, "twice" in twice.err) == (2, True)


def test_experiments_and_sweeps_hold_it_and_its_path_moves_with_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    settings = {**RUN, "workload": "uniform", "manager": "mine.py:Mine"}
    experiment = wa.Experiment.of("simulate", **settings)
    (file.parent / "below").mkdir()
    experiment.to_toml(file.parent / "below" / "one.toml")
    assert '"../mine.py:Mine"' in (file.parent / "below" / "one.toml").read_text()
    again = wa.Experiment.from_toml(file.parent / "below" / "one.toml")
    assert wa.run(again).causes == wa.run(experiment).causes
    assert pickle.loads(pickle.dumps(experiment)) == experiment


def test_sweeps_vary_it_and_its_parameters_on_processes_too(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    plan: dict[str, Any] = {
        "device": {"blocks": 100, "pages_per_block": 16, "op": 0.3},
        "run": {"writes": 5000, "replicas": 1},
        "sweep": {"axes": {"manager": ["mine.py:Mine", "single"], "seed": [1, 2]}},
    }
    found = wa.sweep(plan, out=file.parent / "managers", workers=2).to_frame()
    assert sorted(found["manager"]) == ["mine.py:Mine", "mine.py:Mine", "single", "single"]
    plan["policy"] = {"manager": "mine.py:Mine:share=0.25"}
    plan["sweep"] = {"axes": {"manager.groups": [2, 3]}}
    found = wa.sweep(plan, out=file.parent / "groups", workers=1).to_frame()
    assert sorted(found["manager.groups"]) == [2, 3]
    assert set(found["wa"]) == {
        wa.simulate(manager=f"mine.py:Mine:groups={groups}", **plan["device"], **plan["run"]).wa
        for groups in (2, 3)
    }


CASES = [
    (
        "mine.py:Broken",
        ["on_write of mine.py:Broken", "raised ZeroDivisionError", "page 1000", "mine.py:16"],
    ),
    ("mine.py", ["mine.py:Mine"]),
    ("mine.py:", ["path/to/file.py:Class"]),
    ("mine.py:Nobody", ["Nobody", "Mine, Broken, Oldest"]),
    ("mine.py:Oldest", ["no placement", "writeamp.Placement"]),
    ("mine.py:Mine:group=2", ["unknown parameter", "did you mean 'groups'"]),
    ("mine.py:Mine:groups=many", ["groups", "'many'", "whole number"]),
    ("mine.py:Mine:groups=0", ["streams", "0", "1 to 256"]),
    ("mine.py:Mine:groups=200", ["too small"]),
    ("mine.py:Mine:share=half", ["share", "number"]),
    ("none.py:Mine", ["none.py", "No such file"]),
    (
        "raises.py:Mine",
        ["raises.py raised ModuleNotFoundError", "as it was imported", "raises.py:1"],
    ),
    ("syntax.py:Mine", ["syntax.py raised SyntaxError"]),
    ("no_module_of_this_name:Mine", ["no_module_of_this_name", "valid: single"]),
    ("json:loads", ["no placement"]),
]


@pytest.mark.parametrize(("manager", "words"), CASES, ids=[case[0] for case in CASES])
def test_what_is_wrong_with_it_is_one_sentence_and_status_2(
    manager: str, words: list[str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    (file.parent / "raises.py").write_text("import nothing_of_that_name\n")
    (file.parent / "syntax.py").write_text("class Mine(\n")
    done = in_process.run(
        "simulate",
        f"--manager '{manager}' --blocks 300 --pages-per-block 32 --writes 5000 --replicas 1",
    )
    assert done.status == 2
    assert done.out == ""
    sentence = done.err.splitlines()[-1]
    assert sentence.startswith("writeamp: ")
    for word in words:
        assert word in sentence


def test_an_exception_ends_the_run_with_its_traceback_and_where_the_run_was() -> None:
    class Failing(wa.Placement):
        def on_write(self, page: int, now: int) -> int:
            return self.on_cue(page, now)

        def on_cue(self, page: int, now: int) -> int:
            return {0: 0}[now // 20_000]

        def on_migrate(self, page: int, victim: Any) -> int:
            return 0

    with pytest.raises(wa.PolicyError, match=r"on_write of .*Failing raised KeyError: 1") as found:
        counted(Failing)
    error = found.value
    assert isinstance(error, wa.WriteampError)
    assert isinstance(error.__cause__, KeyError)
    assert (error.hook, error.host_pages) == ("on_write", 20_000)
    assert error.page is not None
    assert "in on_cue" in error.traceback
    assert "/writeamp/own/" not in error.traceback


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (1, "returned 1, and its streams are 0 only"),
        (-1, "returned -1, and its streams are 0 only"),
        (2**70, "which is no whole number"),
        (0.0, r"returned 0\.0, which is no whole number"),
        (None, "returned None, which is no whole number"),
    ],
    ids=str,
)
def test_what_is_no_stream_is_refused(returned: Any, words: str) -> None:
    class Wrong(wa.Placement):
        def on_write(self, page: int, now: int) -> int:
            return returned

        def on_migrate(self, page: int, victim: Any) -> int:
            return 0

    with pytest.raises(wa.PolicyError, match=words):
        counted(Wrong)


def test_streams_may_be_numbers_of_numpy_and_truth_values() -> None:
    class Mine(wa.Placement):
        streams = 2
        migration_streams = (1,)

        def on_write(self, page: int, now: int) -> Any:
            return np.int8(0)

        def on_migrate(self, page: int, victim: Any) -> Any:
            return page >= 0

    assert counted(Mine) == counted("sepgc")


def test_victims_that_are_none_and_that_gain_nothing_are_refused() -> None:
    class Beyond(wa.VictimPolicy):
        def choose(self, candidates: Any, now: int) -> int:
            return len(candidates)

    class Fullest(wa.VictimPolicy):
        def choose(self, candidates: Any, now: int) -> int:
            return candidates.invalid_pages.argmin()

    with pytest.raises(wa.PolicyError, match="the place of no candidate"):
        counted("single", victims=Beyond)
    with pytest.raises(wa.WriteampError, match="freed no page"):
        counted("single", victims=Fullest)
    with pytest.raises(wa.WriteampError, match="greedy, fifo"):
        counted("wolf", "hot-cold:f=0.1,r=0.9", victims=Greedy)


def test_a_virtual_drive_runs_no_python() -> None:
    done = in_process.run("serve", f"--manager {SEPBIT} --size 64MiB --run true")
    assert done.status == 2
    assert "written in Python" in done.err
    assert "sepbit" in done.err


def test_the_shell_completes_files_and_the_classes_in_them(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    complete = policy_completer("managers", ("sepbit", "single"))
    assert complete("s") == ["sepbit", "single"]
    assert complete("mi") == ["mine.py:"]
    assert complete("mine.py:M") == ["mine.py:Mine"]
    assert complete("none.py:M") == []


def test_a_result_is_shown_again_with_the_name_of_its_manager() -> None:
    found = wa.simulate(workload="uniform", manager=Regions, **RUN)
    name = found.to_dict()["manager"]
    assert name.endswith("test_own.py:Regions")
    assert json.loads(json.dumps(found.to_dict()))["manager"] == name
    assert name in str(found.plan.policy)
