"""Studies whose runs are kept in a folder: a table of small ones, and ways to end them."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import tomli_w

import writeamp as wa
from stand_in_runners import EndsEarly
from writeamp.runners import Here, Runner, Threads
from writeamp.studies import sink
from writeamp.studies.compare.comparison import run_comparison
from writeamp.studies.dataset import Dataset
from writeamp.studies.endurance.lifetime import run_lifetime
from writeamp.studies.op.curve import run_op_curve
from writeamp.studies.op.required_op import run_required_op
from writeamp.studies.study import RunsDataset
from writeamp.studies.sweep.points import SweepDataset

# Results that count their runs themselves.
_COUNTED = (wa.Sweep, wa.blackbox.Collected)
# What differs from call to call: time, who did it, and what was kept already.
NEVER_SAME = frozenset({"elapsed_s", "host_pages_per_s", "flash_ops_per_s", "threads", "skipped",
                        "out", "done"})  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A study of a few milliseconds.

    Attributes:
        ask: does it with a folder and a runner.
        runs: how many there are.
        verb: of the command line.
        words: what follows it there; of a sweep, its file in a folder comes first.
        rows: the key of the document whose items are the rows of the frame; "" if it is one row.
        plan: what the file of a sweep holds.
        counts: whether the document counts runs, and the frame has a row for each, kept or not.
        notes: whether the result says that runs of another version were not used.
    """

    ask: Callable[[Path | None, Runner | None], Any]
    runs: int
    verb: str
    words: str
    rows: str = ""
    plan: dict[str, Any] | None = None
    counts: bool = False
    notes: bool = True

    @property
    def contents(self) -> type[Dataset]:
        """The type of what the folder holds."""
        return RunsDataset if self.plan is None else SweepDataset

    def out(self, folder: Path) -> Path:
        """Return the folder to keep runs in, or the file beside which that stands."""
        return _file_of(folder) if self.verb == _COLLECT else folder

    def command(self, folder: Path, out: Path) -> str:
        """Return what follows the verb on the command line, which keeps the runs in `out`."""
        if self.plan is None:
            return f"{self.words} {'--out' if self.verb == _COLLECT else '--keep'} {self.out(out)}"
        (folder / "sweep.toml").write_text(tomli_w.dumps(self.plan))
        return f"{folder / 'sweep.toml'} --workers 1 --keep {out}"


_COLLECT = "blackbox collect"
DRIVE: dict[str, Any] = {"pages_per_block": 16, "writes": 3000}
_COMPARED = DRIVE | {"blocks": 64, "op": 0.25, "managers": "single,sepgc,wolf-interval",
                     "replicas": 2, "workload": "hot-cold:f=0.1,r=0.9"}  # fmt: skip
_CURVE = DRIVE | {"logical_pages": 1024}
_TARGET = _CURVE | {"writes": 8000}
_LIVES = {"pages_per_block": 8, "blocks": 32, "op": 0.25, "w_max": 10, "replicas": 5}
_SWEPT: dict[str, Any] = {
    "verb": "simulate",
    "device": {"blocks": 64, "pages_per_block": 16},
    "run": {"writes": 3000, "replicas": 1},
    "sweep": {"replicas": 2, "axes": {"op": [0.2, 0.3, 0.4], "manager": ["single", "sepgc"]}},
}


_COLLECTED: dict[str, Any] = {"target": "generic", "size": "64MiB", "time": "100ms"}
_POINTS = 6


def _words(settings: dict[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


def _compare(out: Path | None, runner: Runner | None) -> Any:
    return run_comparison(wa.Experiment.of("compare", **_COMPARED), None, runner, out)


def _curve(out: Path | None, runner: Runner | None) -> Any:
    asked = wa.Experiment.of("simulate", **_CURVE)
    return run_op_curve(asked, "op=0.2:0.5:4", None, runner, out)


def _target(out: Path | None, runner: Runner | None) -> Any:
    return run_required_op(wa.Experiment.of("simulate", **_TARGET), 2.0, None, runner, out)


def _endurance(out: Path | None, runner: Runner | None) -> Any:
    asked = wa.Experiment.of("endurance", **_LIVES)
    return run_lifetime(asked, runner=runner, keep=out)


def _sweep(out: Path | None, runner: Runner | None) -> Any:
    assert out is not None
    return wa.sweep(_SWEPT, keep=out, runner=runner or Here())


def _collect(out: Path | None, runner: Runner | None) -> Any:
    assert out is not None
    words = {"size": _COLLECTED["size"], "most_s": _COLLECTED["time"]}
    target = wa.blackbox.target_of(_COLLECTED["target"], **words, runner=runner)
    asked = wa.blackbox.Design("grid", _POINTS)
    return wa.blackbox.collect(target, out=_file_of(out), design=asked)


def _file_of(folder: Path) -> Path:
    return folder.with_name(folder.name.removesuffix(".runs"))


STUDIES: dict[str, Study] = {
    "compare": Study(_compare, 6, "compare", _words(_COMPARED), rows="rows"),
    "simulate --sweep": Study(
        _curve, 4, "simulate", f"{_words(_CURVE)} --sweep op=0.2:0.5:4", rows="points"
    ),
    "simulate --target-wa": Study(_target, 13, "simulate", f"{_words(_TARGET)} --target-wa 2"),
    "endurance": Study(_endurance, 5, "endurance", _words(_LIVES)),
    "sweep": Study(_sweep, 12, "sweep", "", plan=_SWEPT, counts=True, notes=False),
    _COLLECT: Study(
        _collect,
        _POINTS,
        _COLLECT,
        f"{_words(_COLLECTED)} --design grid --points {_POINTS} --workers 1",
        counts=True,
        notes=False,
    ),
}


def study_result(name: str, out: Path | None, runner: Runner | None = None) -> dict[str, Any]:
    """Do a study and return its document; of one that needs a folder, in one of its own."""
    study = STUDIES[name]
    if out is not None or not study.counts:
        return to_compare(study.ask(out, runner))
    with tempfile.TemporaryDirectory() as folder:
        return to_compare(study.ask(Path(folder) / "out.runs", runner))


def to_compare(found: Any) -> dict[str, Any]:
    """Return what a result says of itself, without what is never the same."""
    document: dict[str, Any] = _same(found.to_dict())
    if isinstance(found, _COUNTED):
        document["rows"] = _same(found.to_frame().to_dicts())
    return document


def _same(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _same(one) for name, one in value.items() if name not in NEVER_SAME}
    return [_same(one) for one in value] if isinstance(value, list) else value


def counts_of(found: Any) -> tuple[int, int]:
    """Return how many runs were done by a study, and how many skipped."""
    account = found if isinstance(found, _COUNTED) else found.store_stats
    return account.done, account.skipped


def be_killed(name: str, out: Path, after: int, threads: int) -> None:
    """Do a study in a process that is killed in the job after so many others."""
    # As of runs that take longer, each of which is written at once.
    sink._WRITE_EVERY_S = 0
    inner = Here() if threads == 1 else Threads(threads)
    end = EndsEarly(after, lambda: os.kill(os.getpid(), signal.SIGKILL), inner)
    STUDIES[name].ask(out, end)


def do_beside_others(name: str, out: Path, document: Path, begin: Barrier) -> None:
    """Do a study when all others are ready to, and leave its document in a file."""
    begin.wait()
    document.write_text(json.dumps(study_result(name, out)))
