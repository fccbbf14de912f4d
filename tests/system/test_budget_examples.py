"""Jobs of examples/github-actions.yml: programs meet their budgets, or fail."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from forms import FULL
from places import EXAMPLES
from served import MOUNTING, Served, needs, serve

pytestmark = needs(*MOUNTING, "mkfs.xfs", "setpriv", root=True)

ROUNDS = 10
WORKFLOW = (EXAMPLES / "github-actions.yml").read_text("utf-8")
JOBS = {
    program: (budget, run)
    for program, budget, run in re.findall(
        r"- program: (.+)\n +budget: (.+)\n +run: (.+)\n", WORKFLOW
    )
}
(SERVE,) = re.findall(r"writeamp\)\" serve (.+?matrix\.run }}')", WORKFLOW, re.DOTALL)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Make a folder with the examples, which the user of PostgreSQL may enter."""
    with tempfile.TemporaryDirectory(prefix="wa-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "examples").symlink_to(EXAMPLES)
        yield folder


def job(program: str, folder: Path, change: str = "{run}") -> Served:
    """Run the job of a program, changed, on a mount point in this folder."""
    budget, run = JOBS[program]
    arguments = (
        SERVE.replace("/mnt/vssd", "mnt")
        .replace("${{ matrix.budget }}", budget)
        .replace("${{ matrix.run }}", change.replace("{run}", run))
    )
    done = serve(f"{arguments} --json", folder)
    assert done.document["run_exit_status"] == 0, done.err
    return done


def test_a_log_that_each_event_rewrites_breaks_a_budget_that_appending_meets(
    public_folder: Path,
) -> None:
    before = job("log", public_folder, "{run} --rewrite")
    assert before.status == 3
    (line,) = [line for line in before.err.splitlines() if "--max-flash-bytes" in line]
    assert re.fullmatch(r"writeamp: the flash wrote \S+ MiB, above --max-flash-bytes 16 MiB", line)
    assert job("log", public_folder).status == 0


@pytest.mark.skipif(not FULL, reason="`make test-full` runs it")
@pytest.mark.parametrize("program", ["sqlite", "postgresql"])
def test_runs_stay_within_a_baseline_that_twice_the_writes_break(
    public_folder: Path, program: str
) -> None:
    if program == "postgresql" and not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        pytest.skip("needs postgres")
    assert f"{program}.json is written" in job(program, public_folder).err
    twice = "{run} && mkdir $mountpoint/2 && mountpoint=$mountpoint/2 && {run}"
    for _ in range(ROUNDS):
        again = job(program, public_folder)
        assert again.status == 0, again.err
        doubled = job(program, public_folder, twice)
        assert doubled.status == 3, doubled.err
        assert [budget["holds"] for budget in doubled.document["budgets"]] == [False, False]
