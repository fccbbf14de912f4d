"""Hostile surroundings of the command: closed and full streams, bad names, faults."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest

import in_process
import writeamp as wa
from patience import PATIENCE_S
from writeamp import _engine
from writeamp.cli.engine_age import missing_name
from writeamp.theory import prediction


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line of a shell, in which $W is the command."""
    environment = {**os.environ, "W": str(in_process.WRITEAMP)}
    return subprocess.run(
        ["sh", "-c", command],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def one_sentence(error: str) -> str:
    assert error.startswith("writeamp: ")
    assert error.count("\n") == 1
    return error


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


@pytest.mark.parametrize(
    ("stdout", "words"),
    [
        (">&-", "standard output is closed"),
        pytest.param("> /dev/full", "No space left", marks=needs_full),
    ],
    ids=["closed", "full"],
)
def test_a_stdout_that_loses_results_is_one_sentence(stdout: str, words: str) -> None:
    ended = shell(f"$W list victims {stdout}")
    assert ended.returncode == 2
    assert words in one_sentence(ended.stderr)


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-"])
def test_results_are_printed_whatever_else_is_closed(closed: str) -> None:
    ended = shell(f"$W list victims --json {closed}")
    assert (ended.returncode, ended.stdout[:1], ended.stderr) == (0, "{", "")


def test_instructions_that_the_processor_lacks_are_refused() -> None:
    ended = shell("WRITEAMP_SIMD=sse9 $W list victims")
    assert ended.returncode == 2
    assert "WRITEAMP_SIMD is 'sse9'; valid on this processor: scalar" in one_sentence(ended.stderr)


def test_a_file_that_is_written_never_becomes_a_closed_stream(tmp_path: Path) -> None:
    out = tmp_path / "saved.toml"
    shell(f"$W simulate --blocks 64 --pages-per-block 16 --op 0 --save-config {out} 2>&-")
    assert "writeamp:" not in (out.read_text() if out.exists() else "")


@pytest.mark.parametrize(
    "verb", ["simulate", "simulate --sweep op=0.2:0.4:2", "compare --managers single --replicas 1"]
)
def test_a_picture_is_drawn_though_the_reader_of_the_table_has_gone(
    verb: str, tmp_path: Path
) -> None:
    op = "" if "sweep" in verb else "--op 0.3"
    drive = f"--logical-pages 1024 --pages-per-block 16 --writes 4000 {op}"
    shell(f"$W {verb} {drive} --plot {tmp_path}/wa.svg | true")
    assert (tmp_path / "wa.svg").exists()


@needs_full
def test_where_stderr_is_full_the_status_says_it_alone() -> None:
    ended = shell("$W predict --op 0 2> /dev/full")
    assert (ended.returncode, ended.stdout) == (2, "")


@pytest.mark.parametrize(
    "arguments",
    [
        [b"trace", b"info", b"\xff.csv"],
        [b"simulate", b"--workload", b"\xfe"],
        [b"simulate", b"--plot", b"\xff.png"],
    ],
)
def test_an_argument_that_is_not_utf_8_is_refused_before_the_run(arguments: list[bytes]) -> None:
    ended = subprocess.run(
        [os.fsencode(in_process.WRITEAMP), *arguments], check=False, capture_output=True
    )
    assert ended.returncode == 2
    assert "is not UTF-8 text" in one_sentence(ended.stderr.decode())


class PanicException(BaseException):
    """A stand-in for PyO3's panic, which is no Exception."""


@pytest.mark.parametrize(
    "fault", [ZeroDivisionError("of ours"), PanicException("index out of bounds")], ids=repr
)
@pytest.mark.parametrize("debug", ["", "1"])
def test_a_fault_of_ours_is_one_sentence_and_a_traceback_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, fault: BaseException, debug: str
) -> None:
    monkeypatch.setenv("WRITEAMP_DEBUG", debug)
    with patch.object(prediction, "predict", side_effect=fault):
        status, out, err = in_process.run("predict", "--op 0.1")
    assert (status, out) == (70, "")
    assert f"{type(fault).__name__}: {fault}" in err
    assert err.startswith("Traceback") is bool(debug)
    if not debug:
        assert "a fault of writeamp" in one_sentence(err)


def test_an_engine_older_than_the_python_code_is_to_be_built_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OldDrive:
        def __init__(self, *, geometry: object) -> None: ...

    monkeypatch.setattr(_engine, "Drive", OldDrive)
    with patch.object(prediction, "predict", side_effect=TypeError("unexpected keyword")):
        status, out, err = in_process.run("predict", "--op 0.1")
    assert (status, out) == (70, "")
    assert "older than the Python code" in one_sentence(err)
    assert "Drive(logical_pages=)" in err
    assert "make all" in err
    monkeypatch.undo()
    assert missing_name() is None
    monkeypatch.delattr(_engine, "kept")
    assert missing_name() == "kept"


@pytest.mark.parametrize(
    ("variable", "picture"),
    [
        ("MPLBACKEND=nonsense", "wa.png"),
        ("MPLBACKEND=module://no.such.module", "wa.png"),
        ("MATPLOTLIBRC=matplotlibrc", "wa.svg"),
    ],
)
def test_settings_of_the_user_for_matplotlib_do_not_matter(
    tmp_path: Path, variable: str, picture: str
) -> None:
    (tmp_path / "matplotlibrc").write_text("text.usetex: true\n")
    ended = shell(
        f"cd {tmp_path} && {variable} $W predict --model markov --sweep op=0.1:1:9 --plot {picture}"
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    content = (tmp_path / picture).read_bytes()
    assert content.startswith(b"\x89PNG") or b"markov" in content


@pytest.mark.parametrize("columns", [0, 1, 40])
def test_no_terminal_is_too_narrow_for_names_and_numbers(columns: int) -> None:
    spec = "hcwf-swap:d=10,d_swap=3"
    drive = "--blocks 64 --pages-per-block 16 --op 0.3 --writes 3000"
    ended = shell(
        f"COLUMNS={columns} $W compare --managers single,{spec} --replicas 1 --threads 1 "
        f"--workload hot-cold:f=0.1,r=0.9 {drive}"
    )
    assert "…" not in ended.stdout
    for word in ("single", "hcwf-swap:d=10", "fairness", "pages/s"):
        assert word in ended.stdout
    ended = shell(f"COLUMNS={columns} $W predict --op 0.1 --pages-per-block 64")
    assert "…" not in ended.stdout
    for word in ("uniform-distribution"[:16], "5.4532"[:3], "markov"):
        assert word in ended.stdout


@pytest.mark.parametrize("columns", [0, 40])
def test_help_names_its_options_whole_in_any_terminal(columns: int) -> None:
    ended = shell(f"COLUMNS={columns} $W simulate --help")
    for flag in ("--pages-per-block", "--wear-leveling", "--precondition"):
        assert flag in ended.stdout


def test_a_list_fits_the_terminal() -> None:
    ended = shell("COLUMNS=70 $W list managers")
    lines = ended.stdout.splitlines()
    assert max(map(len, lines)) <= 80  # a word may be longer than what is left of a line
    assert any(
        "a whole number from 1 to 65536" in " ".join(lines[i : i + 2]) for i in range(len(lines))
    )


def test_an_output_that_is_a_loop_of_links_is_one_sentence(tmp_path: Path) -> None:
    loop = tmp_path / "loop.png"
    loop.symlink_to(loop)
    sweep = f"--model markov --sweep op=0.1:1:9 --plot {loop}"
    assert "loop.png" in in_process.refusal("predict", sweep)
    trace = Path("examples/postgres-tpcb.parquet").resolve()
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    conversion = f"{trace} {tmp_path}/loop.csv --to msr"
    assert "loop.csv" in in_process.refusal("trace convert", conversion)


def test_an_error_of_what_cleans_up_after_ctrl_c_does_not_replace_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise wa.WriteampError("cannot read a file: Bad file descriptor")

    monkeypatch.setattr("writeamp.theory.prediction.check_question", interrupted)
    done = in_process.run("predict", "--op 0.2")
    assert done == (130, "", "writeamp: interrupted; nothing was written\n")
