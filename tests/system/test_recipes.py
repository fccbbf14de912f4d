"""Recipes of CONTRIBUTING, followed in a copy: what they add is listed and tested.

What a recipe takes is on the page: every file that is edited here is linked in its row, and the
code of the worked example is that of the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from forms import FULL
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from mutants import Bench

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
EXAMPLE = PAGE[PAGE.index("\n## A victim policy") : PAGE.index("\n## Recipes\n")]

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="the copy holds the files that git lists"
)


@dataclass(frozen=True)
class Recipe:
    """Row of the page, followed in a copy of the repository."""

    tree: Path
    kind: str

    @property
    def row(self) -> str:
        """The row of this kind."""
        [row] = re.findall(rf"^\| {re.escape(self.kind)} \|.*$", PAGE, re.MULTILINE)
        return row

    def copy(self, source: str, name: str, words: Mapping[str, str]) -> None:
        """Copy a file that the row links to a new one in the same folder, with other words."""
        text = self._linked(source).read_text("utf-8")
        for old, new in words.items():
            assert old in text, f"{source} has no {old!r}"
            text = text.replace(old, new)
        (self.tree / source).with_name(name).write_text(text, "utf-8")

    def add(self, path: str, below: str, line: str) -> None:
        """Add a line to a file that the row links, below the first line that begins so."""
        first = re.compile(rf"^{re.escape(below)}.*\n", re.MULTILINE)
        text, count = first.subn(rf"\g<0>{line}\n", self._linked(path).read_text("utf-8"), 1)
        assert count == 1, f"{path} has no line {below!r}"
        (self.tree / path).write_text(text, "utf-8")

    def _linked(self, path: str) -> Path:
        assert f"({path})" in self.row, f"the recipe of a {self.kind} does not name {path}"
        return self.tree / path


PACKAGE = "python/writeamp"
DRIVE_LOGS = "tests/support/drive_logs.py"


def add_a_model(recipe: Recipe) -> None:
    recipe.copy(f"{PACKAGE}/models/_fifo.py", "_dummy_age.py", {
        'name="fifo"': 'name="dummy-age"', "def fifo": "def dummy_age",
        "function=fifo": "function=dummy_age", "models.fifo(": "models.dummy_age(",
    })  # fmt: skip
    recipe.add(f"{PACKAGE}/models/names.py", '    "fifo"', '    "dummy-age",')
    line = "from ._dummy_age import dummy_age as dummy_age"
    recipe.add(f"{PACKAGE}/models/__init__.pyi", "from ._fifo", line)


def add_a_format(recipe: Recipe) -> None:
    recipe.copy(f"{PACKAGE}/traces/formats/ssdsim.py", "dummysim.py", {'"ssdsim"': '"dummysim"'})
    recipe.add(f"{PACKAGE}/traces/words.py", '    "ssdsim"', '    "dummysim",')


def add_a_profile(recipe: Recipe) -> None:
    recipe.copy(f"{PACKAGE}/devices/profiles/samsung-843tn.toml", "dummy-drive.toml", {})


def add_a_log(recipe: Recipe) -> None:
    path = f"{PACKAGE}/drives/counters/logs.toml"
    text = (recipe.tree / path).read_text("utf-8")
    table = re.search(r'\[\[log\]\]\nname = "nvme ocp internal-log, media wear".*?\n\n', text, re.S)
    assert table
    of_dummy = table[0].replace("nvme ocp internal-log, media wear", "nvme dummy log")
    of_dummy = re.sub("(host|media)_{tb,terabytes}_written", r"dummy_\1_tb", of_dummy)
    recipe.add(path, "# Media wear events.", f"{of_dummy}# Media wear events.")


def add_a_source(recipe: Recipe) -> None:
    folder = f"{PACKAGE}/drives/counters/sources"
    words = {'"ssacli"': '"dummytool"', "physicaldrive": "dummydrive"}
    recipe.copy(f"{folder}/ssacli.py", "dummytool.py", words)
    recipe.add(f"{folder}/__init__.py", "    ssacli,", "    dummytool,")
    recipe.add(f"{folder}/__init__.py", "    ssacli.SOURCE", "    dummytool.SOURCE,")


def add_a_check(recipe: Recipe) -> None:
    folder = f"{PACKAGE}/drives/doctor"
    words = {"coarse-counters": "dummy-check"}
    recipe.copy(f"{folder}/checks/coarse_counters.py", "dummy_check.py", words)
    recipe.add(f"{folder}/registry.py", '    "coarse_counters"', '    "dummy_check",')


def add_a_section(recipe: Recipe) -> None:
    folder = f"{PACKAGE}/reports/sections"
    words = {"def findings": "def dummy", '"findings"': '"dummies"', '"not_judged"': '"dummy"'}
    recipe.copy(f"{folder}/findings.py", "dummy.py", words)
    recipe.add(f"{folder}/__init__.py", "    details,", "    dummy,")
    recipe.add(f"{folder}/__init__.py", "    findings.findings", "    dummy.dummy,")


def add_cases(tree: Path) -> None:
    """Add the cases that the rows ask for."""
    call = "    wa.models.dummy_age(0.2)"
    Recipe(tree, "analytic model").add("tests/data/user_script.py", "    wa.models.fifo", call)
    sample = "tests/data/traces/tiny.ssdsim"
    Recipe(tree, "trace format").copy(sample, "tiny.dummysim", {})
    log = '        "dummy": "Dummy host TB : 200\\\\nDummy media TB : 300\\\\n",'
    Recipe(tree, LOG).add(DRIVE_LOGS, '        "media-wear"', log)
    log = '        "dummytool": "dummydrive 1\\\\nUsage remaining: 90%\\\\n",'
    # Its row says "as above".
    Recipe(tree, LOG).add(DRIVE_LOGS, '        "media-wear"', log)
    case = 'def test_a_dummy() -> None:\n    assert "dummy-check" in [one.id for one in checks()]\n'
    recipe = Recipe(tree, "doctor check")
    recipe.add("tests/unit/test_doctor.py", "from writeamp.drives.doctor.registry", f"\n\n{case}")
    document = '    "dummies": [{"message": "a dummy"}],'
    Recipe(tree, "report section").add("tests/support/reported.py", "DOCTOR: ", document)


LOG = "counter source: log of keys and values"
RECIPES = {
    "analytic model": add_a_model,
    "trace format": add_a_format,
    "device profile": add_a_profile,
    LOG: add_a_log,
    "counter source: other document": add_a_source,
    "doctor check": add_a_check,
    "report section": add_a_section,
}
# Entries of `writeamp list`.
LISTED = {"models": "dummy-age", "formats": "dummysim", "devices": "dummy-drive"}
LISTED["checks"] = "dummy-check"
# Tests that run on additions, and those that fail until an addition has a case.
PASSED = {
    "test_a_registered_model_is_found_described_and_public[dummy-age]",
    "test_every_number_of_a_profile_has_its_source[dummy-drive]",
    "test_the_same_three_requests_read_the_same_from_every_text_format[dummysim-tiny.dummysim]",
}
EXPECTING = {
    "test_the_script_of_a_user_calls_every_public_function",
    "test_every_text_format_of_the_registry_has_a_sample_here",
    "test_every_source_reads_a_document_of_the_tests[nvme dummy log]",
    "test_every_source_reads_a_document_of_the_tests[dummytool]",
    "test_every_check_is_in_a_test_of_the_doctor",
    "test_every_section_is_shown_for_a_document_of_the_tests[dummy]",
}


def python(tree: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of a copy."""
    # The tests of a copy are not those of the worker that runs them.
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_XDIST")}
    path = os.pathsep.join(str(tree / name) for name in ("python", "papers", "tests/support"))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**own, "PYTHONPATH": path, **more},
        check=False,
        text=True,
        capture_output=True,
    )


def outcomes(tree: Path, names: set[str]) -> dict[str, set[str]]:
    """Run the tests that the rows name in a copy, those with one of some words in their names."""
    words = " or ".join(sorted({name.partition("[")[0] for name in names}))
    rows = "".join(Recipe(tree, kind).row for kind in RECIPES)
    files = sorted(set(re.findall(r"`(tests/\w+/test_\w+\.py)`", rows)))
    ended = python(tree, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "-k", words, *files)
    found: dict[str, set[str]] = {"PASSED": set(), "FAILED": set(), "ERROR": set()}
    for outcome, name in re.findall(
        r"^(PASSED|FAILED|ERROR) \S+?(?:::([^:\n]+?))?(?: - .*)?$", ended.stdout, re.MULTILINE
    ):
        found[outcome].add(name)
    assert found["PASSED"] | found["FAILED"], ended.stdout + ended.stderr
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Follow each recipe in Python in a copy of the repository, without cases for the tests."""
    tree = Bench(tmp_path_factory.mktemp("recipes")).tree
    for kind, follow in RECIPES.items():
        follow(Recipe(tree, kind))
    return tree


def test_what_a_recipe_adds_is_listed_and_in_the_tables_of_pages(tree: Path) -> None:
    ended = python(tree, "-m", "writeamp", "list", "--json")
    kinds = json.loads(ended.stdout)
    names = {kind: {one["name"] for one in kinds[kind]} for kind in LISTED}
    assert {kind: name for kind, name in LISTED.items() if name not in names[kind]} == {}
    generated = python(tree, "scripts/generate.py").stdout
    assert {"docs/devices.md", "docs/doctor.md", "docs/traces.md"} <= set(generated.split())


def test_the_tests_of_a_recipe_ask_for_the_cases_of_what_it_adds(tree: Path) -> None:
    found = outcomes(tree, EXPECTING)
    assert (found["FAILED"], found["ERROR"]) == (EXPECTING, set())


def test_the_tests_of_a_recipe_run_on_what_it_adds_and_on_its_cases(
    tree: Path, tmp_path: Path
) -> None:
    with_cases = tmp_path / "tree"
    shutil.copytree(tree, with_cases)
    add_cases(with_cases)
    found = outcomes(with_cases, {*EXPECTING, "dummy"})
    assert (found["FAILED"], found["ERROR"]) == (set(), set())
    assert found["PASSED"] >= PASSED | EXPECTING
    fuzz = "import sys; sys.path.append('tests/fuzz'); import calls, making"
    fuzzed = python(with_cases, "-c", fuzz)
    assert fuzzed.returncode == 0, fuzzed.stderr


# The worked example, and a placement.
# What cargo has compiled is kept from one run to the next.
TARGET = ROOT / "build/recipes/target"
CODE = re.compile(r"`(crates/[\w/]+\.rs)`(?:(?!```).)*?```rust\n(.*?)```", re.DOTALL)
BELOW = re.compile(r"below `([\w:]+)`")


def add_a_policy(tree: Path) -> None:
    """Follow the worked example, with the code of the page."""
    new = {path: code for path, code in CODE.findall(EXAMPLE) if not (tree / path).exists()}
    assert len(new) == 2
    for path, code in new.items():
        (tree / path).write_text(code, "utf-8")
    [(path, line)] = [(path, code) for path, code in CODE.findall(EXAMPLE) if path not in new]
    [below] = BELOW.findall(EXAMPLE)
    Recipe(tree, "victim policy").add(path, f"            {below}", line.rstrip())


def add_a_placement(tree: Path) -> None:
    recipe, placements = Recipe(tree, "placement"), "crates/engine/src/placements"
    words = {"SepGc": "Dummy", '"sepgc"': '"dummy"'}
    recipe.copy(f"{placements}/sepgc.rs", "dummy.rs", words)
    recipe.copy("crates/naive/src/placements/sepgc.rs", "dummy.rs", {"SepGc": "Dummy"})
    recipe.add(f"{placements}/mod.rs", "            sepgc::SepGc", "            dummy::Dummy,")


def test_the_worked_example_and_a_placement_compile_with_their_twins() -> None:
    bench = Bench(TARGET.parent)
    add_a_policy(bench.tree)
    add_a_placement(bench.tree)
    python(bench.tree, "scripts/declare_modules.py")
    check = ["check", "--quiet", "--package", "writeamp-naive", "--target-dir", str(TARGET)]
    for command in (["fmt", "--check"], check):
        ended = subprocess.run(
            ["cargo", *command], cwd=bench.tree, check=False, text=True, capture_output=True
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
    if FULL:
        check_in_the_long_form(bench)


def check_in_the_long_form(bench: Bench) -> None:
    """Build the engine, list and simulate the policy, and run its conformance tests."""
    bench.compile()
    for kind, name in (("victims", "fifo-skip"), ("managers", "dummy")):
        entries = json.loads(python(bench.tree, "-m", "writeamp", "list", kind, "--json").stdout)
        assert name in [one["name"] for one in entries[kind]]
        own = {"CARGO_TARGET_DIR": str(TARGET)}
        checked = python(bench.tree, "scripts/check_policy.py", name, **own)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    [command] = re.findall(r"^\$ writeamp (simulate .*) \|", EXAMPLE, re.MULTILINE)
    printed = python(bench.tree, "-m", "writeamp", *command.split()).stdout
    [row] = re.findall(r"^│ write amplification .*$", EXAMPLE, re.MULTILINE)
    assert row in printed
