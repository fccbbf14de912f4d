"""Every command and every Python block that the pages show works, as it stands there."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import tomli_w

import in_process
import recordings
import served
import writeamp as wa
from collecting import Formula
from documented import blocks, commands_of
from forms import FULL
from places import EXAMPLES, ROOT, TRACE
from served import MOUNTING
from smart_documents import intel
from vssd_documents import control_server
from writeamp.drives.histories.watching import watch_once
from writeamp.learn.blackbox.collection import collect
from writeamp.learn.blackbox.designs import STATES, Design
from writeamp.learn.twin import fitting, one_number
from writeamp.learn.twin.families import USUAL
from writeamp.learn.twin.phases.served import GRID
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.learn.twin.profile import write_profile
from writeamp.learn.twin.table import table_of
from writeamp.studies.sweep.points import SweepDataset

PAGES = [
    ROOT / "README.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "papers/docs").glob("*.md")),
]

# Commands that take more than ten seconds, and what makes them short; by how they begin.
SHORT = {
    "writeamp answer --trace": "--trace part.parquet",
    "writeamp answer --workload": "--writes 100000 --replicas 1",
    "writeamp allocate --explore 20": "--explore 10",
    "writeamp blame examples/postgres-tpcb.parquet": "--repeat 1",
    "writeamp blackbox collect --target x25-m": "--size 256MiB --points 4 --time 100ms --workers 1",
    "writeamp blackbox collect --target drive.img": "--size 16MiB --points 9 --runtime 100ms",
    "writeamp blackbox train few.parquet": "--targets throughput",
    "writeamp compare --device eagletree": "--replicas 1 --writes 500000",
    "writeamp compare --trace disk.csv": "--replicas 1 --writes 50000",
    "writeamp compare --trace examples/postgres-tpcb.parquet --hints-by": "--repeat 1",
    "writeamp compare --workload zipf:s=0.99 --op": "--replicas 1 --writes 500000",
    "writeamp compare --workload zipf:s=0.99 --capacity": "--replicas 1 --writes 2.4e8",
    "writeamp endurance --capacity": "--w-max 9 --replicas 2",
    "writeamp endurance --workload": "--w-max 50 --replicas 2",
    "writeamp lifetime --trace": "--cycles 60",
    "writeamp serve --device tlc-datacenter --size 1GiB --mount mnt --compare": "--replicas 1",
    "writeamp simulate --device mine.toml": "--writes 20000",
    "writeamp simulate --device mx.toml": "--size 64MiB --writes 20000",
    "writeamp simulate --fio-run 'fio --name=a --rw": "--writes 500000",
    "writeamp simulate --trace disk.csv --op 0.28 --manager wolf": "--writes 50000",
    "writeamp simulate --workload uniform --capacity": "--replicas 1 --writes 4.7e8",
    "writeamp simulate --device eagletree --manager wolf": "--writes 2000000",
}
SWEEP, SHORT_SWEEP = "examples/op_by_manager.toml", "short_sweep.toml"
# Of the commands of a verb, those whose run is short.
QUICK = (*SHORT, "writeamp blackbox explain x25m.model --target")
# Pages whose sentences of outputs are compared with what their commands print.
SHOWING = ("questions.md", "first-ten-minutes.md", "answer.md", "simulation.md", "doctor.md")
# Number of commands; fewer would mean that the outputs of pages are no longer recognized.
LEAST_COMPARED = 15
# They read a file that `folder` makes smaller than a reader's, or print paths of the folder.
OTHER_INPUT = (
    "writeamp answer --counters",
    "writeamp blackbox",
    "writeamp diff",
    "writeamp lifetime",
    "writeamp measure counters",
    "writeamp report",
    "writeamp simulate --device mine.toml",
    "writeamp simulate experiment.toml",
    "writeamp sweep show",
    "writeamp trace info TRACE",
)
# Run by `make test-full` alone; papers and twins of phases have tests of their own.
LONG = ("writeamp reproduce", "writeamp twin fit tests/data", "writeamp twin fit own.toml")
# It would change the start-up files of whoever runs the tests.
NOT_RUN = "writeamp --install-completion"
# They need what a machine may not have.
NEEDS_HARDWARE_OR_NETWORK = (
    "writeamp measure all",
    "writeamp live",
    "writeamp measure save",
    "writeamp measure run",
    "writeamp measure calibrate",
    "writeamp trace fetch",
    "writeamp trace record",
    "writeamp twin measure --target /",
)
SERVE = "writeamp serve"
# A line of an output that is a sentence: neither of a table nor of a list.
SENTENCE = re.compile(r"[A-Z0-9*][^│┃]* [^│┃]*\.\**$")
FIO = "writeamp blackbox collect --target drive.img"
# What the pages call files that a reader has, by format.
TRACES = {
    "msr": ["TRACE", "IN.csv", "disk.csv", "hm_0.csv", "trace.csv"],
    "mqsim": ["tpcc.trace"],
    "blkparse": ["sda.txt"],
    "disksim": ["iozone.trace"],
}


def commands() -> list[str]:
    """Return the commands of all pages, each once."""
    return list(
        dict.fromkeys(
            command for page in PAGES for _, text in blocks(page) for command in commands_of(text)
        )
    )


def sentences_shown() -> dict[str, list[str]]:
    """Return the sentences that pages show as output, by the command that prints them.

    The text before an output says of which command it is: "The first:", or words of the command in
    backticks; otherwise it is of the last command before it.
    """
    shown: dict[str, list[str]] = {}
    for page in PAGES:
        if page.name not in SHOWING:
            continue
        before: list[str] = []
        for prose, language, text in re.findall(
            r"(.*?)^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        ):
            commands = commands_of(text)
            if commands:
                before = commands
            elif language == "text" and before:
                shown.setdefault(named_by(prose, before), []).extend(
                    line for line in text.splitlines() if SENTENCE.match(line)
                )
    return {command: lines for command, lines in shown.items() if lines}


def named_by(prose: str, commands: list[str]) -> str:
    """Return that of several commands of which a text says that it prints the next output."""
    for place, word in enumerate(("first", "second")):
        if re.search(rf"\bThe {word}\b(?! line)", prose):
            return commands[place]
    words = re.findall(r"`([a-z ]+)`", prose)
    return next(
        (command for name in words for command in commands if name in command), commands[-1]
    )


def is_run(command: str) -> bool:
    """Return whether a command ends by itself, changes nothing of the machine, and runs on it."""
    ends = "--run" in command or "--compare" in command
    serves_for_ever = command.startswith(SERVE) and not ends
    needs_drive = command.startswith(NEEDS_HARDWARE_OR_NETWORK)
    return (
        command != NOT_RUN
        and not needs_drive
        and not serves_for_ever
        and "--scheduler" not in command
    )


def of_each_verb() -> list[str]:
    """Return a command of each verb, and of each that a verb has, whose run is short if one is.

    A page shows some verbs with `--json`, which need no other command.
    """
    chosen: dict[tuple[str, ...], str] = {}
    runs = [one for one in commands() if is_run(one) and not one.startswith(LONG)]
    shown = sorted(runs, key=lambda one: ("--json" not in one, not one.startswith(QUICK)))
    for command in shown:
        words = itertools.takewhile(str.isalpha, command.split())
        chosen.setdefault(tuple(words), command)
    return list(chosen.values())


SENTENCES = sentences_shown()
# Run once more, for their JSON; `make test-full` asks for that of every command.
SHOWN_TWICE = commands() if FULL else of_each_verb()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, _few_processes: None) -> Iterator[Path]:
    """Make a folder that has all that the pages take for granted."""
    folder = tmp_path_factory.mktemp("documented")
    (folder / "examples").symlink_to(EXAMPLES)
    shorter = (ROOT / SWEEP).read_text().replace("writes = 8_000_000", "writes = 400_000")
    assert shorter != (ROOT / SWEEP).read_text()
    (folder / SHORT_SWEEP).write_text(shorter)
    SweepDataset.make(folder / "part-2")
    random = np.random.default_rng(1)
    count = 20_000
    columns = {
        "timestamp_ns": np.arange(count) * 1_000_000,
        "device": np.zeros(count, np.uint32),
        "op": random.choice(["read", "write"], count, p=[0.1, 0.9]),
        "offset": random.integers(0, 2**14, count, np.uint64) * np.uint64(4096),
        "length": random.integers(1, 8, count, np.uint32) * np.uint32(4096),
    }
    requests = pl.DataFrame(columns, schema=wa.traces.SCHEMA)
    trace = wa.traces.Trace(requests, "parquet", "made by hand", ["0"])
    for name, paths in TRACES.items():
        for path in paths:
            wa.traces.write(trace, folder / path, name)
    wa.traces.write(wa.traces.of(pl.read_parquet(TRACE).head(count)), folder / "part.parquet")
    files = pl.Series("file", random.choice(["db/data", "db/log"], count))
    recording = wa.traces.of(requests.drop("device").with_columns(files))
    wa.traces.write(recording, folder / "mine.parquet")
    of_their_own = requests.select(
        pl.col("timestamp_ns") / 1e6, "device", "offset", "length", pl.col("op") == "write"
    )
    of_their_own.with_columns(pl.col("op").cast(pl.UInt8)).write_csv(
        folder / "writes.csv", include_header=False
    )
    (folder / "cut.csv").write_text("0.5,0,4096,8192,1\n1.25,0,0,4096,0\n")
    issued = folder / "sda.txt"  # "as issued to the device" is action D, where we write Q
    issued.write_text(issued.read_text().replace(" Q ", " D "))
    recordings.recorded(folder, recordings.requests(5_000), device=wa.device().to_dict())
    small = "--blocks 64 --pages-per-block 16 --op 0.2 --writes 4000"
    assert in_process.run("simulate", f"{small} --save-config {folder}/experiment.toml").status == 0
    axes = {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}
    sweep = {"device": {"blocks": 64, "pages_per_block": 16}, "run": {"writes": 4000}}
    (folder / "sweep.toml").write_text(tomli_w.dumps(sweep | {"sweep": {"axes": axes}}))
    bounds = {"op": {"from": 0.15, "to": 0.4}, "workload.s": {"from": 0.6, "to": 1.2}}
    design = {"design": "saltelli", "samples": 16, "axes": bounds}
    matters = sweep | {"load": {"workload": "zipf"}, "sweep": design}
    (folder / "matters.toml").write_text(tomli_w.dumps(matters))
    # Pages show these results; the test of the command that makes them may run in another process.
    for name, out in (("sweep", "results"), ("matters", "matters")):
        arguments = f"{folder}/{name}.toml --keep {folder}/{out}"
        assert in_process.run("sweep", arguments).status == 0
    captured = "--device ssd-v --workload random:bs=4k,write=1.0 --host-bytes 256MiB"
    assert in_process.run("simulate", f"{captured} --rb-capture {folder}/rb.vcd").status == 0
    fleet = f"{folder}/fleet.csv.zst"
    made = "--volumes 20 --requests 2e5 --seed 1 --format alibaba"
    assert in_process.run("volumes make", f"{made} --out {fleet}").status == 0
    split = f"{fleet} --format alibaba --out {folder}/fleet"
    assert in_process.run("volumes split", split).status == 0
    measure_drives(folder)
    snapshot_drives(folder)
    learn_drive(folder)
    with control_server(folder / "vssd.sock.control"):
        yield folder


@pytest.fixture(scope="module", autouse=True)
def _few_processes() -> Iterator[None]:
    """In the short form, start no workers, each of which imports for a second."""
    with pytest.MonkeyPatch.context() as patch:
        if not FULL:
            patch.setattr("writeamp.runners.choice.processors", lambda: 1)
        yield


@pytest.fixture(autouse=True)
def _small_tables(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep tables of twins out of the user's cache; in the short form, make them small."""
    cache = ROOT / "target" if FULL else tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "cache"))
    if not FULL:
        small = replace(one_number.GRID, logical_pages=2**13)
        monkeypatch.setattr(one_number, "GRID", small)
        monkeypatch.setattr(
            fitting,
            "table_of",
            lambda served, **given: table_of(served, **given | {"grid": small, "families": USUAL}),
        )


def measure_drives(folder: Path) -> None:
    """Make measurements of two drives, of one of them three times, and a model of each file."""
    usual, varied = Design("random", points=80), Design("random", points=80, vary=STATES)
    for drive, file, features, design in (
        ("x25-m", "x25m", "extended", usual),
        ("apex", "apex", "extended", usual),
        ("x25-m", "few", "extended", usual),
        ("x25-m", "states", "modern", varied),
    ):
        table = folder / f"{file}.parquet"
        collect(Formula(name=drive), out=table, design=design)
        arguments = f"{table} --model linear --features {features} --out {folder}/{file}.model"
        assert in_process.run("blackbox train", arguments).status == 0


def learn_drive(folder: Path) -> None:
    """Make a twin of a real drive from published counters, and runs as a user describes them."""
    (folder / "tests").symlink_to(ROOT / "tests")
    drives = wa.twin.read_drives(ROOT / "tests/data/real-drives/ssdiq_counters.csv")
    drive = next(drive for drive in drives if drive.name.startswith("Micron"))
    phases = drive.chosen(["mp0op02:6", "mp0op02:7"])
    windows = PhaseWindows(drive, phases, replace(GRID, op=GRID.op[8:12], logical_pages=2**13))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        table = table_of(windows.served, families=USUAL[:1])
    write_profile(folder / "mx.toml", fitting.fit(windows, table=table).profile(), [])
    loads = [{"pattern": phase.pattern, "span_gib": 745.2} for phase in phases]
    (folder / "own.toml").write_text(tomli_w.dumps({"drive": "my drive", "phases": loads}))
    columns = ("phase", "host_bytes", "media_bytes")
    rows = [
        (number, *pair)
        for number, phase in enumerate(phases)
        for pair in ((0.0, 0.0), *zip(phase.host_bytes, phase.media_bytes, strict=True))
    ]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "counters.csv")


def snapshot_drives(folder: Path) -> None:
    """Make snapshots of a drive on two days, a history, and results with their pages."""
    for kept in ("smart", "snapshots"):
        (folder / kept).mkdir()
    for at, day in enumerate(("monday", "friday"), 1):
        document = json.dumps(intel(10_000 * at, 30_000 * at, 4.0 * at))
        for place in (f"{day}.json", f"snapshots/{day}.json", "smart/sda.json"):
            (folder / place).write_text(document)
        watch_once([folder / "smart"], folder / "history.sqlite")
    for name in ("a", "b"):
        found = wa.simulate(blocks=64, pages_per_block=16, op=0.2, writes=4000, seed=ord(name))
        (folder / f"{name}.json").write_text(json.dumps(found.to_dict()))
    small = "--blocks 64 --pages-per-block 16 --op 0.2 --writes 4000"
    for name in ("a", "b", "out", "page"):
        assert in_process.run("simulate", f"{small} --report {folder}/{name}.html").status == 0


def test_there_are_commands_of_every_verb() -> None:
    verbs = {command.split()[1] for command in commands()}
    help_text = in_process.run("--help", "").out
    listed = set(re.findall(r"^│ (\w+) ", help_text, re.MULTILINE))
    assert listed
    assert listed <= verbs


def test_pages_show_sentences_of_commands_that_run_at_full_length() -> None:
    compared = [
        command
        for command in SENTENCES
        if not command.startswith((*SHORT, *LONG, *OTHER_INPUT, SERVE)) and is_run(command)
    ]
    assert len(compared) >= LEAST_COMPARED, compared


def with_options(arguments: str, more: str) -> str:
    """Return arguments with options, each with its value, in the place of those that they have."""
    words, others = shlex.split(arguments), shlex.split(more)
    for flag, value in zip(others[::2], others[1::2], strict=True):
        if flag in words:
            words[words.index(flag) + 1] = value
        else:
            words += [flag, value]
    return shlex.join(words)


@pytest.mark.parametrize("command", list(filter(is_run, commands())), ids=str)
def test_a_command_works_and_prints_one_json_document(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command.startswith(LONG) and not FULL:
        pytest.skip("`make test-full` runs it")
    if command.startswith(FIO) and shutil.which("fio") is None:
        pytest.skip("needs fio")
    if command.startswith(SERVE):
        programs = (*MOUNTING, "mkfs.xfs") if "--mount" in command else ()
        lacking = served.missing("fio", *programs, root="--mount" in command)
        if lacking:
            pytest.skip(f"needs {', '.join(lacking)}")
    monkeypatch.chdir(folder)
    for name, value in {"ID": 2, "MIN": 1, "MAX": 3, "COUNT": 3}.items():
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", str(value))
    shorter = [more for start, more in SHORT.items() if command.startswith(start)]
    verb, _, arguments = command.removeprefix("writeamp ").partition(" ")
    for more in [] if FULL else shorter:
        arguments = with_options(arguments, more)
    if not FULL:
        arguments = arguments.replace(SWEEP, SHORT_SWEEP)
    done = in_process.run(verb, arguments)
    assert done.status == 0, done.err
    if not shorter and not command.startswith((*OTHER_INPUT, SERVE)):
        printed = " ".join(done.out.split())
        assert [line for line in SENTENCES.get(command, []) if line not in printed] == []
    if "--json" in arguments:
        json.loads(done.out)
    elif command in SHOWN_TWICE and "--json" in in_process.run(verb, f"{arguments} --help").out:
        over = " --force" if command.startswith("writeamp trace convert") else ""
        in_process.document(verb, arguments + over)


def shortly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which runs the default drive or the trace for less than usually."""

    def run(*values: Any, **settings: Any) -> Any:
        if settings.keys() <= {"workload", "manager", "victims", "op"}:
            settings["writes"] = 500_000
        elif isinstance(trace := settings.get("trace"), str) and trace.endswith(TRACE.name):
            settings["repeat"] = 1
        return function(*values, **settings)

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    if not FULL:
        monkeypatch.setattr(wa, "compare", partial(wa.compare, replicas=1, writes=500_000))
        monkeypatch.setattr(wa, "simulate", shortly(wa.simulate))
        monkeypatch.setattr(wa, "required_op", shortly(wa.required_op))
    names: dict[str, Any] = {
        "sizes": [0.4, 0.3, 0.2, 0.1],
        "frequencies": [0.05, 0.1, 0.25, 0.6],
        "measure": wa.models.expected_value,
    }
    for language, text in blocks(page):
        if language == "python":
            exec(compile(text, page.name, "exec"), names)
