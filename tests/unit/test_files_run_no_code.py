"""No file that is read runs code.

A policy is imported for who asks for it, and for what is run.
"""

from __future__ import annotations

import base64
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

import in_process
import writeamp as wa
from recordings import POLICY, recorded, requests
from writeamp.learn.blackbox.models.documents import from_document

# A policy in Python whose import leaves a file behind.
SOURCE = """
from pathlib import Path
import writeamp as wa
Path(__file__).with_suffix(".imported").touch()

class Placed(wa.Placement):
    def __init__(self, drive, groups: int = 2):
        self.streams = groups
    def on_write(self, page, now):
        return 0
    def on_migrate(self, page, victim):
        return 0

class Chosen(wa.VictimPolicy):
    def choose(self, candidates, now):
        return 0
"""
MODULE = "policy_of_a_stranger"
TRACES = Path(__file__).resolve().parents[1] / "data" / "traces"
SMALL = {
    "device": {"blocks": 64, "pages_per_block": 16, "op": 0.3},
    "run": {"writes": 3000, "replicas": 1},
}


class Stranger:
    """A module that can be imported, by its name and by its path."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{MODULE}.py"
        self.path.write_text(SOURCE)
        self.sign = self.path.with_suffix(".imported")

    def references(self, name: str) -> list[str]:
        return [f"{self.path}:{name}", f"{MODULE}:{name}", f"{MODULE}:{name}:groups=3"]

    @property
    def was_imported(self) -> bool:
        return self.sign.exists() or MODULE in sys.modules

    def forget(self) -> None:
        self.sign.unlink(missing_ok=True)
        for name in [one for one in sys.modules if MODULE in one]:
            del sys.modules[name]
        wa.custom.references._loaded.cache_clear()


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stranger]:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    found = Stranger(folder)
    yield found
    found.forget()


def refused(verb: str, arguments: str, *words: str) -> None:
    in_process.refusal(verb, arguments, *words)


def test_who_asks_for_it_on_the_command_line_or_in_python_has_it(stranger: Stranger) -> None:
    for reference in stranger.references("Placed"):
        wa.simulate(manager=reference, **SMALL["device"], **SMALL["run"])
        assert stranger.was_imported
        stranger.forget()
    options = "--blocks 64 --pages-per-block 16 --op 0.3 --writes 3000 --replicas 1"
    in_process.document("simulate", f"{options} --manager {stranger.path}:Placed")
    assert stranger.was_imported


@pytest.mark.parametrize("key", ["manager", "victims"])
def test_a_trace_names_none(stranger: Stranger, tmp_path: Path, key: str) -> None:
    name = {"manager": "Placed", "victims": "Chosen"}[key]
    rows = requests(300)
    for reference in stranger.references(name):
        path = recorded(tmp_path, rows, policy={**POLICY, key: reference})
        for verb in ("simulate", "compare --managers single", "endurance --w-max 5"):
            refused(verb, f"--trace {path}", str(path), key, "built-in", MODULE)
        for verb in ("trace info", "trace convert"):
            target = f" {tmp_path}/copy.parquet" if "convert" in verb else ""
            refused(verb, f"{path}{target}", str(path), "built-in")
        refused("serve", f"--size 32MiB --precondition aged:{path} --run true", str(path))
        sweep = {"load": {"trace": str(path)}, "sweep": {"axes": {"op": [0.2]}}}
        with pytest.raises(wa.WriteampError, match="built-in"):
            wa.sweep(sweep, keep=tmp_path / "out", runner=wa.runners.Here())
        with pytest.raises(wa.WriteampError, match="built-in"):
            wa.traces.read(path)
    assert not stranger.was_imported


def test_traces_of_other_formats_are_text(stranger: Stranger, tmp_path: Path) -> None:
    for sample in sorted(TRACES.iterdir()):
        path = tmp_path / sample.name
        words = json.dumps({"writeamp_recording": {"manager": f"{MODULE}:Placed"}})
        path.write_text(f"# {words}\n{stranger.path}:Placed\n" + sample.read_text())
        in_process.run("trace info", str(path))
        in_process.run("simulate", f"--trace {path}")
        path.write_text(sample.read_text().replace("src1", f"{MODULE}:Placed"))
        in_process.run("simulate", f"--trace {path} --op 0.5 --writes 100 --replicas 1")
    assert not stranger.was_imported


@pytest.fixture
def results(stranger: Stranger, tmp_path: Path) -> Path:
    """Return the results of a sweep over policies of the stranger, who then is forgotten."""
    out = tmp_path / "results"
    axes = {"manager": [*stranger.references("Placed"), "single"], "op": [0.3, 0.4]}
    wa.sweep({**SMALL, "sweep": {"axes": axes}}, keep=out, runner=wa.runners.Here())
    assert stranger.was_imported
    stranger.forget()
    return out


def test_results_of_a_sweep_name_policies_as_text(stranger: Stranger, results: Path) -> None:
    found = wa.sweep_results(results)
    frame = found.to_frame()
    assert set(frame["manager"]) == {*stranger.references("Placed"), "single"}
    assert frame.filter(pl.col("manager").str.ends_with("=3"))["manager.groups"].to_list() == [3, 3]
    found.curves("op", hue="manager")
    found.where(manager=f"{MODULE}:Placed").groups()
    for options in ("", "--json", "--csv", "--x op --hue manager --json", "--pareto wa,op"):
        assert in_process.run("sweep show", f"{results} {options}").status == 0
    # Another sweep into the same folder looks at what is there.
    other = {**SMALL, "sweep": {"axes": {"op": [0.35]}}}
    wa.sweep(other, keep=results, runner=wa.runners.Here()).to_frame()
    assert not stranger.was_imported


def test_results_whose_policy_is_gone_are_shown(stranger: Stranger, results: Path) -> None:
    stranger.path.unlink()
    assert wa.sweep_results(results).to_frame().height == 8


def test_results_are_not_looked_at_through_a_file_that_would_run_code(
    stranger: Stranger, results: Path, tmp_path: Path
) -> None:
    for reference in stranger.references("Placed"):
        plan = {**SMALL, "policy": {"manager": reference}, "sweep": {"axes": {"op": [0.3, 0.4]}}}
        file = tmp_path / "plan.toml"
        file.write_text(tomli_w.dumps(plan))
        refused("sweep show", f"{results} --of {file}", "policy in Python", "--of")
        with pytest.raises(wa.WriteampError, match="policy in Python"):
            wa.sweep_results(results, of=file)
    assert not stranger.was_imported
    # Who gives it as a mapping has asked for it.
    assert wa.sweep_results(results, of=plan).to_frame().height == 2
    assert stranger.was_imported


@pytest.mark.parametrize("verb", ["simulate", "compare", "endurance"])
def test_an_experiment_is_imported_for_when_it_runs(
    stranger: Stranger, tmp_path: Path, verb: str
) -> None:
    path = tmp_path / "one.toml"
    named = [f"{stranger.path}:Placed", f"{MODULE}:Placed"]
    policy: dict[str, Any] = {"manager": named[0], "victims": f"{MODULE}:Chosen"}
    run: dict[str, Any] = {"replicas": 1}
    if verb == "compare":
        policy = {"managers": [*named, f"{named[0]}:groups=2"], "victims": ["fifo", "greedy"]}
    run |= {"w_max": 3} if verb == "endurance" else {"writes": 3000}
    tables = {"verb": verb, "device": SMALL["device"], "policy": policy, "run": run}
    path.write_text(tomli_w.dumps(tables))
    looked_at = wa.Experiment.from_toml(path)
    assert looked_at.to_dict()["policy"].items() >= policy.items()
    looked_at.with_settings(seed=3).to_toml(tmp_path / "two.toml")
    assert repr(looked_at)
    assert not stranger.was_imported
    if verb == "compare":
        with pytest.raises(wa.WriteampError, match="twice"):
            wa.run(path)
        return
    found = wa.run(looked_at)
    assert stranger.was_imported
    assert looked_at == wa.Experiment.from_toml(path, to_run=True)
    assert found == wa.run(path)


def test_paths_of_policies_are_beside_the_file_that_names_them(
    stranger: Stranger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, here = tmp_path / "study", tmp_path / "here"
    beside.mkdir()
    here.mkdir()
    text = SOURCE.replace("groups: int = 2", "groups: int = 2, share: float = 0.5")
    (beside / "mine.py").write_text(text)
    (beside / "other.py").write_text(text)
    for name in ("mine.py", "other.py"):
        (here / name).write_text("raise SystemExit('of the wrong folder')")
    monkeypatch.chdir(here)
    sweep = beside / "sweep.toml"
    policy = {"manager": "mine.py:Placed:share=0.25"}
    for axes in ({"manager.groups": [2]}, {"manager": ["mine.py:Placed"], "manager.groups": [3]}):
        plan = {**SMALL, "policy": policy, "sweep": {"axes": axes}}
        sweep.write_text(tomli_w.dumps(plan))
        assert wa.sweep(sweep, keep=tmp_path / "out", runner=wa.runners.Here()).done == 1
    compare = {
        "verb": "compare",
        "device": SMALL["device"],
        "policy": {"managers": "mine.py:Placed,other.py:Placed:groups=2,single"},
        "run": SMALL["run"],
    }
    (beside / "compare.toml").write_text(tomli_w.dumps(compare))
    assert len(wa.run(beside / "compare.toml").rows) == 3


def test_a_virtual_drive_refuses_it_before_it_is_imported(stranger: Stranger) -> None:
    for option, name in (("--manager", "Placed"), ("--victims", "Chosen")):
        for reference in stranger.references(name):
            refused("serve", f"{option} {reference} --size 64MiB --run true", "written in Python")
            with pytest.raises(wa.WriteampError, match="written in Python"):
                wa.VirtualSsd(size="64MiB", **{option.strip("-"): reference})
    assert not stranger.was_imported


def archive(schema: dict[str, Any]) -> str:
    """Return an archive of skops with one object."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr(
            "schema.json", json.dumps({"protocol": 2, "_skops_version": "0.11", **schema})
        )
    return base64.b64encode(content.getvalue()).decode("ascii")


@pytest.mark.parametrize("loader", ["ObjectNode", "TypeNode", "FunctionNode", "MethodNode"])
def test_a_black_box_model_names_no_module(stranger: Stranger, loader: str) -> None:
    names = {"__class__": "Placed", "__module__": MODULE, "__loader__": loader, "__id__": 1}
    inner = {"func": "Placed", "class_name": "Placed", "module_path": MODULE, "function": "Placed"}
    with pytest.raises(wa.WriteampError):
        from_document({"kind": "scikit-learn", "skops": archive(names | {"content": inner})})
    assert not stranger.was_imported


TABLE = "target,wa,manager\n{words},1.5,{words}\n"
DOCUMENT = '{{"format": "{words}", "version": 1, "manager": "{words}"}}'
PROFILE = 'name = "{words}"\nmanager = "{words}"\n[policy]\nmanager = "{words}"\n'
JOB = "[global]\nbs=4k\nioengine=external:{words}\n[{words}]\nrw=randwrite\n"
CAPTURE = (
    f"$comment {{words}} $end\n$timescale 1 ns $end\n$scope module {MODULE} $end\n"
    "$var wire 1 ! {words} $end\n$upscope $end\n$enddefinitions $end\n#0\n1!\n#9\n0!\n"
)

# Every other file that a verb reads, what is in it, and the verb; measurements are a table in it.
FILES: dict[str, tuple[str | None, str]] = {
    "measured.parquet": (None, "blackbox train {} --out {}.model"),
    "measured.csv": (TABLE, "blackbox train {} --out {}.model"),
    "score.csv": (TABLE, "blackbox evaluate {}"),
    "drive.model": (DOCUMENT, "blackbox predict {} --workload random:bs=4k"),
    "shown.model": (DOCUMENT, "blackbox explain {}"),
    "drive.toml": (PROFILE, "simulate --device {} --writes 100"),
    "pins.vcd": (CAPTURE, "measure rb {} --device ssd-v --host-bytes 1MiB"),
    "pins.csv": (CAPTURE, "measure rb {} --device ssd-v --host-bytes 1MiB"),
    "load.fio": (JOB, "blackbox predict none.model --job {}"),
    "run.toml": (DOCUMENT, "simulate {}"),
    "sweep.toml": (DOCUMENT, "sweep {} --out {}.out"),
    "writeamp-sweep.json": (DOCUMENT, "sweep show ."),
}


@pytest.mark.parametrize("name", FILES)
def test_no_other_file_names_one(
    stranger: Stranger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    content, command = FILES[name]
    for reference in stranger.references("Placed"):
        if content is None:
            columns = {"target": [reference], "read_us": [1.0], "manager": [reference]}
            pl.DataFrame(columns).write_parquet(name)
        else:
            Path(name).write_text(content.format(words=reference))
        verb, _, arguments = command.replace("{}", name).partition(" ")
        in_process.run(verb, arguments)
    assert not stranger.was_imported


def test_a_saved_state_names_none(stranger: Stranger) -> None:
    from test_workloads import simulation  # noqa: PLC0415

    from writeamp.registry.declarations import source_of  # noqa: PLC0415

    reference = f"{stranger.path}:Chosen"
    saved = simulation(victims=reference, own_victims=source_of("victims", reference))
    saved.fill(0, 800)
    state = saved.save()
    stranger.forget()
    with pytest.raises(wa.WriteampError, match="Chosen"):
        simulation().restore(state)
    assert not stranger.was_imported
