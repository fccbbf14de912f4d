"""Starting the command: it imports no more than it needs to say what is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperGroup

from writeamp.cli.verbs import load, verbs

SLOW = ("numpy", "scipy", "polars", "sklearn", "matplotlib", "distributed", "numba")

# Runs the command, and tells who of ours was first to import each slow library.
RUN = f"""
import json, sys, traceback

class Importers:
    found = {{}}

    def find_spec(self, name, path=None, target=None):
        if name in {SLOW!r} and name not in self.found:
            ours = [at for at in traceback.extract_stack() if "/writeamp/" in at.filename]
            self.found[name] = f"{{ours[-1].filename}}:{{ours[-1].lineno}}"

sys.meta_path.insert(0, Importers())
from writeamp.__main__ import main
status = 0
try:
    main()
except SystemExit as ended:
    status = ended.code
sys.stdout.flush()
print(json.dumps([status, Importers.found]), file=open(sys.argv[-1], "w"))
"""


def importers(arguments: list[str], folder: Path, **environment: str) -> tuple[int, dict[str, str]]:
    """Return the status of a command, and which file imported each slow library first."""
    report = folder / "report.json"
    code = RUN.replace("sys.argv[-1]", repr(str(report)))
    code = f"import sys; sys.argv[1:] = {arguments!r}; sys.argv[0] = 'writeamp'\n{code}"
    with (folder / "out").open("w") as out:
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
            check=True,
        )
    status, found = json.loads(report.read_text())
    return status, found


@pytest.mark.parametrize(
    ("arguments", "status"),
    [("--version", 0), ("--help", 0), ("", 2), ("--hlep", 2), ("simulat", 2)],
)
def test_the_command_without_a_verb_imports_nothing_slow(
    tmp_path: Path, arguments: str, status: int
) -> None:
    assert importers(arguments.split(), tmp_path) == (status, {})


@pytest.mark.parametrize(
    "verb",
    [
        "simulate",
        "compare",
        "endurance",
        "meanfield",
        "predict",
        "allocate",
        "list",
        "trace convert",
        "top",
        "sweep",
        "sweep show",
        "measure rb",
        "serve",
    ],
)
@pytest.mark.parametrize(("asked", "status"), [("--help", 0), ("--mistyped", 2)])
def test_what_a_verb_takes_is_known_without_what_it_computes_with(
    tmp_path: Path, verb: str, asked: str, status: int
) -> None:
    assert importers([*verb.split(), asked], tmp_path) == (status, {})


@pytest.mark.parametrize(
    ("arguments", "allowed"), [("list victims", set()), ("predict --op 0.28", {"numpy", "scipy"})]
)
def test_an_answer_imports_no_more_than_it_takes(
    tmp_path: Path, arguments: str, allowed: set[str]
) -> None:
    status, found = importers(arguments.split(), tmp_path)
    assert status == 0
    assert set(found) <= allowed, found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completing_a_verb_imports_nothing_slow(tmp_path: Path, shell: str) -> None:
    asked = {
        "_WRITEAMP_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "writeamp si",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "writeamp si",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    assert importers([], tmp_path, **asked) == (0, {})
    assert "simulate" in (tmp_path / "out").read_text()


@pytest.mark.parametrize("name", verbs())
def test_the_list_of_verbs_has_the_summary_of_each(name: str) -> None:
    command = load(name)
    assert command.name == name
    if not isinstance(command, TyperGroup):
        assert " ".join(command.help.split("\n\n")[0].split()) == verbs()[name].summary


def test_the_entry_point_imports_nothing_before_it_handles_signals() -> None:
    code = (
        "import sys; before = set(sys.modules); import writeamp.__main__; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    late = {"writeamp.fields", "writeamp.fields.late_names"}
    assert set(done.stdout.split()) <= {"__future__", "writeamp", "writeamp.__main__", *late}


def test_the_version_is_there_before_any_other_name() -> None:
    code = "import writeamp; print(writeamp.__version__)"
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
