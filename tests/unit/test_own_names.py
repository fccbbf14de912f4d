"""The words that name a user's placement or victim policy, and where they may stand."""

from __future__ import annotations

import importlib
import json
import pickle
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import in_process
import writeamp as wa
from own_policies import RUN, Base, Greedy, Handles, Oldest, Regions, counted
from stand_in_runners import AsElsewhere
from writeamp import custom
from writeamp.cli.options import policy_completer
from writeamp.custom import names
from writeamp.extensions import extensions
from writeamp.registry.specs import Spec


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a file with a placement, and go to its folder."""
    monkeypatch.chdir(tmp_path)
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

            class Exits(Mine):
                def on_write(self, page, now):
                    raise SystemExit(3)

            class Asks(Mine):
                def __init__(self, drive, compiled=5):
                    self.streams = 2
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
    words = [
        "built-in",
        "built-in",
        "lowercase letters",
        "Regions",
        "not a placement",
        "has no on_write",
    ]
    for call, word in zip(refused, words, strict=True):
        with pytest.raises(wa.WriteampError, match=word):
            call()


def test_classes_of_one_name_are_told_apart() -> None:
    def of(number: int) -> type[wa.Placement]:
        class Twofold(Base):
            def on_write(self, page: int, now: int) -> int:
                return number

        return Twofold

    mixed, apart = of(1), of(0)
    specs = [wa.manager(mixed), wa.manager(apart), wa.manager(mixed)]
    assert [str(spec) for spec in specs] == ["Twofold", "Twofold-2", "Twofold"]
    assert [counted(spec) for spec in specs[:2]] == [counted(mixed), counted(apart)]
    assert counted(mixed) != counted(apart)


def test_a_name_is_not_given_again_to_a_class_of_another_file(
    forgetting: None, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(
            "import writeamp as wa\n\n"
            "@wa.placement('twice')\n"
            "class Mine(wa.Placement):\n"
            "    on_write = on_migrate = lambda self, page, now: 0\n"
        )
    custom.find("managers", f"{tmp_path}/one.py:Mine")
    with pytest.raises(wa.WriteampError, match=r"'twice' is already the name of Mine of .*one\.py"):
        custom.find("managers", f"{tmp_path}/two.py:Mine")


def test_a_class_of_the_script_that_runs_is_named_by_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "Regions", Regions, raising=False)
    assert custom.find("managers", "__main__:Regions") is not None


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
    extensions.cache_clear()
    try:
        assert counted("paper", victims="paper-oldest") == counted("paper", victims="fifo")
        assert Spec.of("managers", "paper:groups=3").params["groups"] == "3"
        assert custom.find("managers", "sepbit") is None
        listed = in_process.run("list", "managers").out
        assert "  paper " in listed
        assert "lost of the package papers cannot be used (mine, Lost)" in " ".join(listed.split())
        assert "paper-oldest" in in_process.run("simulate", "--victims oldest").err
    finally:
        extensions.cache_clear()


def test_a_file_is_named_by_its_path_and_takes_parameters(file: Path) -> None:
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


def test_experiments_and_sweeps_hold_it_and_its_path_moves_with_the_file(file: Path) -> None:
    settings = {**RUN, "workload": "uniform", "manager": "mine.py:Mine"}
    experiment = wa.Experiment.of("simulate", **settings)
    (file.parent / "below").mkdir()
    experiment.to_toml(file.parent / "below" / "one.toml")
    assert '"../mine.py:Mine"' in (file.parent / "below" / "one.toml").read_text()
    again = wa.Experiment.from_toml(file.parent / "below" / "one.toml")
    assert wa.run(again).causes == wa.run(experiment).causes
    assert pickle.loads(pickle.dumps(experiment)) == experiment


def test_sweeps_vary_it_and_its_parameters_whoever_runs_them(file: Path) -> None:
    plan: dict[str, Any] = {
        "device": {"blocks": 100, "pages_per_block": 16, "op": 0.3},
        "run": {"writes": 5000, "replicas": 1},
        "sweep": {"axes": {"manager": ["mine.py:Mine", "single"], "seed": [1, 2]}},
    }
    found = wa.sweep(plan, keep=file.parent / "managers", runner=AsElsewhere()).to_frame()
    assert sorted(found["manager"]) == ["mine.py:Mine", "mine.py:Mine", "single", "single"]
    plan["policy"] = {"manager": "mine.py:Mine:share=0.25"}
    plan["sweep"] = {"axes": {"manager.groups": [2, 3]}}
    found = wa.sweep(plan, keep=file.parent / "groups", runner=wa.runners.Here()).to_frame()
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
    ("mine.py:Nobody", ["Nobody", "Mine, Broken, Oldest, Exits, Asks"]),
    ("mine.py:Oldest", ["not a placement", "writeamp.Placement"]),
    ("mine.py:Mine:group=2", ["unknown parameter", "did you mean 'groups'"]),
    ("mine.py:Mine:groups=many", ["groups", "'many'", "whole number"]),
    ("mine.py:Mine:groups=0", ["streams", "0", "1 to 256"]),
    ("mine.py:Mine:groups=200", ["too small"]),
    ("mine.py:Mine:share=half", ["share", "number"]),
    ("none.py:Mine", ["none.py", "No such file"]),
    (
        "raises.py:Mine",
        ["the import of", "raises.py raised ModuleNotFoundError", "raises.py:1"],
    ),
    ("syntax.py:Mine", ["syntax.py raised SyntaxError"]),
    ("exits.py:Mine", ["the import of", "exits.py raised SystemExit: 0", "exits.py:2"]),
    ("mine.py:Exits", ["on_write of mine.py:Exits", "raised SystemExit: 3"]),
    ("mine.py:Asks", ["mine.py:Asks has a parameter called compiled"]),
    ("no_module_of_this_name:Mine", ["no_module_of_this_name", "valid: single"]),
    ("json:loads", ["not a placement"]),
]


@pytest.mark.parametrize(("manager", "words"), CASES, ids=[case[0] for case in CASES])
def test_what_is_wrong_with_it_is_one_sentence_and_status_2(
    manager: str, words: list[str], file: Path
) -> None:
    (file.parent / "raises.py").write_text("import nothing_of_that_name\n")
    (file.parent / "syntax.py").write_text("class Mine(\n")
    (file.parent / "exits.py").write_text("import sys\nsys.exit(0)\n")
    drive = "--blocks 300 --pages-per-block 32 --writes 5000 --replicas 1"
    done = in_process.run("simulate", f"--manager '{manager}' {drive}")
    sentence = done.err.splitlines()[-1]  # behind the traceback of the policy
    assert (done.status, done.out, sentence[:10]) == (2, "", "writeamp: ")
    assert [word for word in words if word not in sentence] == []


def test_the_shell_completes_files_and_the_classes_in_them(file: Path) -> None:
    complete = policy_completer("managers", ("sepbit", "single"))
    assert complete("s") == ["sepbit", "single"]
    assert complete("mi") == ["mine.py:"]
    assert complete("mine.py:M") == ["mine.py:Mine"]
    assert complete("none.py:M") == []


def test_a_result_is_shown_again_with_the_name_of_its_manager() -> None:
    found = wa.simulate(workload="uniform", manager=Regions, **RUN)
    name = found.to_dict()["manager"]
    assert name.endswith("own_policies.py:Regions")
    assert json.loads(json.dumps(found.to_dict()))["manager"] == name
    assert name in str(found.plan.policy)
