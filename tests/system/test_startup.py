"""The command as a process of its own: its imports, streams, status and memory."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.core import TyperGroup

from in_process import WRITEAMP
from patience import PATIENCE_S
from places import ROOT, TINY
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
            check=False,  # the command's own status
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


# Slow modules of the standard library, which typer and rich do not need for help either.
SLOW_STANDARD = (
    "asyncio", "concurrent.futures", "email", "hashlib", "http", "importlib.metadata",
    "importlib.resources", "logging", "multiprocessing", "secrets", "sqlite3", "ssl", "tomllib",
    "xml", "zipfile",
)  # fmt: skip
EXPECTED = tomllib.loads((ROOT / "tests" / "data" / "start_imports.toml").read_text())


@pytest.mark.parametrize("command", EXPECTED)
def test_a_start_imports_the_listed_modules_only(command: str) -> None:
    code = (
        f"import sys; before = {{*sys.modules}}; sys.argv = ['writeamp', *{command.split()!r}]\n"
        "from writeamp.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n    print('imported:', *sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    imported = set(done.stdout.rpartition("imported: ")[2].split())
    expected = EXPECTED[command]
    shared = EXPECTED[expected["modules_of"]]["modules"] if "modules_of" in expected else []
    modules = {*shared, *expected["modules"]}
    packages = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
    assert {name for name in imported if name.startswith("writeamp.")} == {
        f"writeamp.{name}" for name in modules
    }
    assert packages - {"writeamp", "writeamp_papers"} <= {*expected["packages"]}
    assert imported.isdisjoint(SLOW_STANDARD), imported.intersection(SLOW_STANDARD)


def test_a_class_that_help_left_out_is_the_real_one_when_used() -> None:
    code = (
        "from writeamp.cli.light_typer import import_help; import_help(); import sys; "
        "from typer.rich_utils import Markdown; assert 'rich.markdown' not in sys.modules; "
        "made = Markdown('# A'); import rich.markdown; assert type(made) is rich.markdown.Markdown"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("line", "completed"),
    [("writeamp si", "simulate"), ("writeamp trace fetch msr-h", "msr-hm-0")],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completing_imports_nothing_slow(
    tmp_path: Path, shell: str, line: str, completed: str
) -> None:
    asked = {
        "_WRITEAMP_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    assert importers([], tmp_path, **asked) == (0, {})
    assert completed in (tmp_path / "out").read_text()


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


def test_an_error_ends_the_process_while_a_run_still_asks_a_policy_in_python() -> None:
    code = (
        "import sys; sys.modules['numba'] = None; from writeamp.__main__ import main\n"
        "sys.argv = ['writeamp', 'simulate', '--writes', '100000', '--manager', "
        f"'{ROOT / 'examples' / 'my_placement.py'}:SepBIT:compiled=yes']\nmain()"
    )
    for _ in range(4):  # it crashed in every second run
        status, _, err = ended(["-c", code], (sys.executable,))
        assert (status, err.count("\n")) == (2, 1), err


def test_the_version_is_there_before_any_other_name() -> None:
    code = "import writeamp; print(writeamp.__version__)"
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


AS_MODULE = (sys.executable, "-m", "writeamp")
DRIVE = "simulate --blocks 64 --pages-per-block 16"


def ended(words: list[object], program: tuple[object, ...] = (WRITEAMP,)) -> tuple[int, str, str]:
    """Run the command, and return its status and what it printed."""
    done = subprocess.run(
        [*program, *words],  # type: ignore[list-item]
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def of_a_shell(line: str) -> str:
    """Run a line of a shell that must succeed, and print nothing but notes on stderr."""
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if "writeamp: note: " not in line] == []
    return done.stdout


def test_a_document_stands_alone_on_stdout_and_nothing_on_stderr_when_piped() -> None:
    status, out, err = ended([*f"{DRIVE} --writes 20000 --json".split()])
    assert (status, err) == (0, "")
    assert json.loads(out)["wa"] > 1


def test_a_closed_pipe_is_no_traceback() -> None:
    assert of_a_shell(f"{WRITEAMP} list | head -n 1") == "managers:\n"


@pytest.mark.parametrize("verb", ["simulate", "answer --quick"])
def test_a_page_is_written_though_the_pipe_is_closed(verb: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    short = f"{DRIVE.partition(' ')[2]} --writes 20000"
    line = f"{WRITEAMP} {verb} {short} --report {shlex.quote(str(page))}"
    assert of_a_shell(f"{line} | head -n 1").startswith("WA ")
    assert page.read_text().endswith("</html>\n")


def test_a_pipe_of_a_shell_is_read_to_its_end() -> None:
    trace = shlex.quote(str(TINY / "tiny.spc"))
    assert json.loads(of_a_shell(f"cat {trace} | {WRITEAMP} trace info - --json"))["requests"] == 3


@pytest.mark.parametrize(("arguments", "status"), [("--help", 0), ("list --nothing", 2)])
def test_the_module_is_the_command(arguments: str, status: int) -> None:
    found, out, err = ended([*arguments.split()], AS_MODULE)
    assert found == status
    if status == 0:
        assert "Usage: writeamp [OPTIONS] COMMAND" in out
    else:
        assert out == ""
        assert err.startswith("writeamp: No such option: --nothing")


# One case of each kind of error: usage, the engine's, a file's.
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (f"{DRIVE} --op much", ["--op", "much"]),
        (f"{DRIVE} --victims greddy", ["victim policy", "did you mean 'greedy'"]),
        ("simulate --trace no-such.csv", ["no-such.csv", "no such file"]),
    ],
)
def test_an_error_is_one_sentence_and_status_2(arguments: str, words: list[str]) -> None:
    status, out, err = ended([*arguments.split()])
    assert (status, out) == (2, ""), err
    assert err.count("\n") == 1
    assert [word for word in words if word not in err] == []


def test_a_name_that_is_not_utf_8_is_shown_harmless(tmp_path: Path) -> None:
    name = tmp_path / b"\xff\x1b[31m.spc".decode("utf-8", "surrogateescape")
    name.write_bytes((TINY / "tiny.spc").read_bytes())
    for options in ([], ["--json"]):
        _, out, err = ended(["trace", "info", name, *options])
        assert "\x1b" not in out + err
        assert "Traceback" not in err
        assert err.count("\n") <= 1


def test_memory_stays_below_sixteen_bytes_a_page() -> None:
    case = {
        "blocks": 16_384, "pages_per_block": 256, "fill": 0.87, "manager": "single",
        "victims": "cost-benefit", "workload": "uniform", "writes": 1000, "repeats": 1,
    }  # fmt: skip
    bench = ROOT / "benches" / "engine_case.py"
    done = subprocess.run(
        [sys.executable, bench, json.dumps(case)], capture_output=True, text=True, check=True
    )
    assert 6 < json.loads(done.stdout)["bytes_per_page"] < 16


def test_a_stream_needs_little_memory_beside_its_columns() -> None:
    bench = ROOT / "benches" / "arrow_stream.py"

    def peak_mib(rows: int) -> int:
        ended = subprocess.run(
            [sys.executable, bench, str(rows), "mixed"], capture_output=True, text=True, check=True
        )
        words = ended.stdout.split()
        return int(words[words.index("peak") + 1])

    few, many = 1_500_000, 5_000_000
    # As a hundred million of them within 1 GiB: 10.7 bytes a row; and what is allowed for chance.
    # Of the drive's pages all but a quarter are written by the few, which is 3 MiB of page map.
    most_mib = 10.7 * (many - few) / 2**20
    assert peak_mib(many) - peak_mib(few) < most_mib + 12
