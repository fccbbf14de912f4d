"""The step of action.yml, its example workflow and the hook: programs meet budgets, or fail."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import in_process
from forms import FULL
from patience import PATIENCE_S
from places import EXAMPLES, ROOT
from served import MOUNTING, PATH, needs

ROUNDS = 10
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
BUDGETS = yaml.safe_load((EXAMPLES / "github-actions.yml").read_text("utf-8"))["jobs"]["budgets"]
JOBS = {job["program"]: job for job in BUDGETS["strategy"]["matrix"]["include"]}
(USED,) = [step["with"] for step in BUDGETS["steps"] if "/writeamp@" in step.get("uses", "")]
MATCHERS = json.loads((ROOT / "scripts/action-problems.json").read_text("utf-8"))["problemMatcher"]
mounts = needs(*MOUNTING, "mkfs.xfs", "setpriv", root=True)


class Step(NamedTuple):
    """End of the step: its exit status, output, summary (Markdown) and outputs."""

    status: int
    printed: str
    summary: str
    outputs: dict[str, str]

    @property
    def result(self) -> dict[str, Any]:
        """The result as JSON."""
        found = json.loads(Path(self.outputs["result"]).read_text("utf-8"))
        assert isinstance(found, dict)
        return found

    @property
    def annotations(self) -> list[tuple[str, str]]:
        """Severity and sentence of what GitHub shows beside the job."""
        of_matchers = [
            (matcher["severity"], found[1])
            for line in self.printed.splitlines()
            for matcher in MATCHERS
            for pattern in matcher["pattern"]
            if (found := re.match(pattern["regexp"], line))
        ]
        commands = re.findall(r"^::(error|warning) title=writeamp::(.*)$", self.printed, re.M)
        return of_matchers + commands


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder with the examples, which the user of PostgreSQL may enter."""
    with tempfile.TemporaryDirectory(prefix="wa-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "examples").symlink_to(EXAMPLES)
        yield folder


def step(folder: Path, **inputs: str) -> Step:
    """Run the step in a folder, with inputs by their names in action.yml."""
    (run,) = ACTION["runs"]["steps"]
    values = {name: str(given.get("default", "")) for name, given in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    variables = {
        name: values[re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)[1]]
        for name, text in run["env"].items()
    }
    files = {"GITHUB_STEP_SUMMARY": folder / "summary.md", "GITHUB_OUTPUT": folder / "outputs"}
    for file in files.values():
        file.write_text("")
    done = subprocess.run(
        ["sh", "-c", run["run"]],
        cwd=folder,
        env={
            **os.environ,
            **variables,
            **{name: str(file) for name, file in files.items()},
            "GITHUB_ACTION_PATH": str(ROOT),
            "RUNNER_TEMP": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{PATH}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return Step(
        done.returncode, done.stdout, files["GITHUB_STEP_SUMMARY"].read_text("utf-8"), outputs
    )


def job(program: str, folder: Path, change: str = "{run}") -> Step:
    """Run the job of a program of the example, changed."""

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda name: JOBS[program][name[1]], text)

    inputs = {name: filled(text) for name, text in USED.items()}
    done = step(folder, **inputs | {"command": change.replace("{run}", inputs["command"])})
    assert done.result["run_exit_status"] == 0, done.printed
    return done


@mounts
def test_a_log_that_each_event_rewrites_breaks_a_budget_that_appending_meets(folder: Path) -> None:
    rewritten = job("log", folder, "{run} --rewrite")
    assert rewritten.status == 3
    (sentence,) = [text for severity, text in rewritten.annotations if severity == "error"]
    assert re.fullmatch(r"the flash wrote \S+ MiB, above --max-flash-bytes 16 MiB", sentence)
    assert f"**T{sentence[1:]}." in rewritten.summary
    assert "| flash wrote | " in rewritten.summary
    appended = job("log", folder)
    assert appended.status == 0
    assert {severity for severity, _ in appended.annotations} == {"warning"}


@pytest.mark.skipif(not FULL, reason="`make test-full` runs it")
@pytest.mark.parametrize("program", ["sqlite", "postgresql"])
@mounts
def test_runs_stay_within_a_baseline_that_twice_the_writes_break(
    folder: Path, program: str
) -> None:
    if program == "postgresql" and not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        pytest.skip("needs postgres")
    assert f"{program}.json is written" in job(program, folder).printed
    twice = "{run} && mkdir $mountpoint/2 && mountpoint=$mountpoint/2 && {run}"
    for _ in range(ROUNDS):
        again = job(program, folder)
        assert again.status == 0, again.printed
        doubled = job(program, folder, twice)
        assert doubled.status == 3, doubled.printed
        assert [budget["holds"] for budget in doubled.result["budgets"]] == [False, False]


@needs()
def test_without_a_file_system_the_step_needs_no_root(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another user, who may not use sudo.
    programs = {"id": "echo 1000", "sudo": "exit 97", "apt-get": "exit 98"}
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys.modules[__name__], "PATH", f"{folder}:{PATH}")
    assert step(folder, command="true").status == 97
    done = step(folder, file_system="none", command='echo "drive $uri" && exit 7', size="64MiB")
    assert done.status == 1, done.printed
    assert "drive nbd" in done.printed
    assert done.result["run_exit_status"] == 7
    assert done.summary.startswith("# writeamp serve")


@needs()
@pytest.mark.parametrize("file_system", ["ntfs", "xfs --keep here", ""])
def test_another_file_system_is_an_error_beside_the_job(folder: Path, file_system: str) -> None:
    done = step(folder, file_system=file_system, command="true")
    assert (done.status, done.summary) == (2, "")
    (error,) = done.annotations
    assert error == ("error", f"file-system is {file_system}; valid are xfs, ext4, btrfs and none")


@needs()
def test_an_invalid_input_is_an_error_beside_the_job(folder: Path) -> None:
    done = step(folder, file_system="none", command="true", device="no-such", limits="--max-wa 2")
    assert (done.status, done.outputs, done.summary) == (2, {}, "")
    (error,) = done.annotations
    assert error[0] == "error"
    assert "no-such" in error[1]


@needs()
def test_no_input_is_run_as_code_of_the_step(folder: Path) -> None:
    (run,) = ACTION["runs"]["steps"]
    assert "${{" not in run["run"]
    done = step(folder, file_system="none", command="true", device="$(touch a)", limits="`touch b`")
    assert done.status == 2
    assert not (folder / "a").exists()
    assert not (folder / "b").exists()


def test_the_hook_refuses_a_job_with_a_mistake_and_passes_its_correction() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    jobs = EXAMPLES / "fio"
    verb, arguments = hook["entry"].removeprefix("writeamp ").split(" ", 1)
    for name, status in {"looped-randwrite.fio": 1, "looped-randwrite-right.fio": 0}.items():
        assert re.search(hook["files"], name)
        done = in_process.run(verb, f"{arguments} {shlex.quote(str(jobs / name))}")
        assert done.status == status, done.out
