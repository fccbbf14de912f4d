"""The command as a process of its own: its streams, its status, and names that are no text."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from in_process import WRITEAMP
from patience import PATIENCE_S
from places import TINY

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
    """Run a line of a shell that must succeed and say nothing on stderr."""
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_a_document_stands_alone_on_stdout_and_nothing_on_stderr_when_piped() -> None:
    status, out, err = ended([*f"{DRIVE} --writes 20000 --json".split()])
    assert (status, err) == (0, "")
    assert json.loads(out)["wa"] > 1


def test_a_closed_pipe_is_no_traceback() -> None:
    assert of_a_shell(f"{WRITEAMP} list | head -n 1") == "managers:\n"


def test_a_pipe_of_a_shell_is_read_to_its_end() -> None:
    trace = shlex.quote(str(TINY / "tiny.spc"))
    assert json.loads(of_a_shell(f"cat {trace} | {WRITEAMP} trace info - --json"))["requests"] == 3


@pytest.mark.parametrize(("arguments", "status"), [("--help", 0), ("list --nothing", 2)])
def test_the_module_is_the_command(arguments: str, status: int) -> None:
    found, out, err = ended([*arguments.split()], AS_MODULE)
    assert found == status
    if status == 0:
        assert "Usage: python -m writeamp [OPTIONS] COMMAND" in out
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
