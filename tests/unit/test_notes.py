"""Notes of commands: at most three, and none that every run would print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from test_options import COMMANDS

import in_process
from writeamp.cli import options
from writeamp.cli.notes import MOST_NOTES, with_verbose
from writeamp.text import Detail

pytestmark = pytest.mark.usefixtures("plain_messages")

TRACE = Path(__file__).parents[2] / "examples" / "postgres-tpcb.parquet"
# Ordinary questions, to each of which the answer needs no comment.
ORDINARY = [
    ("simulate", "--blocks 256 --op 0.15"),
    ("simulate", "--size 64MiB --op 0.15"),
    ("simulate", "--workload zipf:s=0.99 --blocks 256 --op 0.15"),
    ("simulate", "--capacity 1TB --op 0.15 --writes 1e5"),
    ("compare", "--managers single,sepgc --blocks 256 --op 0.15"),
    ("endurance", "--blocks 60 --w-max 20"),
    ("predict", "--op 0.28"),
    ("predict", "--sweep op=0.1:0.5:3"),
    (
        "meanfield",
        "--mode hcwf --pages-per-block 32 --spare-factor 0.12 --d 10 --hot-fraction 0.2 "
        "--hot-write-fraction 0.7",
    ),
    ("allocate", "--sizes 0.5,0.5 --frequencies 0.1,0.9 --fill 0.7"),
    ("trace info", f"'{TRACE}'"),
    ("doctor", f"'{TRACE}'"),
]


def verb(*sentences: str) -> Callable[..., None]:
    """Return a verb that prints notes and as many warnings."""

    @with_verbose
    def body() -> None:
        for sentence in sentences:
            options.note(sentence)
            options.warn(f"{sentence} is wrong")

    return body


def printed(call: Callable[[], None], capsys: pytest.CaptureFixture[str], kind: str) -> list[str]:
    """Return the notes or warnings that a call prints."""
    call()
    lines = capsys.readouterr().err.splitlines()
    start = f"writeamp: {kind}: "
    return [line.removeprefix(start) for line in lines if line.startswith(start)]


def test_a_command_prints_three_notes_and_counts_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    many = verb("first", "second", "third", "fourth", "fifth")
    assert printed(many, capsys, "note") == ["first", "second", "third", "2 more notes: --verbose"]
    assert printed(verb("first", "second", "third"), capsys, "note") == ["first", "second", "third"]


def test_verbose_prints_all_notes(capsys: pytest.CaptureFixture[str]) -> None:
    sentences = ["first", "second", Detail("third"), "fourth", "fifth"]
    assert printed(lambda: verb(*sentences)(verbose=True), capsys, "note") == sentences


def test_no_warning_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    sentences = ["first", "second", "third", "fourth", "fifth"]
    warnings = printed(verb(*sentences), capsys, "warning")
    assert warnings == [f"{sentence} is wrong" for sentence in sentences]


def test_a_note_of_every_run_needs_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(verb("first", Detail("units")), capsys, "note") == ["first"]


@pytest.mark.parametrize(("name", "arguments"), ORDINARY)
def test_an_ordinary_command_prints_no_note(name: str, arguments: str) -> None:
    done = in_process.run(name, arguments)
    assert done.status == 0
    assert [line for line in done.err.splitlines() if ": note: " in line] == []


def test_the_document_has_the_notes_that_the_terminal_leaves_out(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = [f"{volume},W,{4096 * page},4096,{page + 1}" for page in range(600) for volume in (1, 2)]
    trace.write_text("\n".join([*rows, "1,R,900000000,4096,700", "1,W,0,0,701", "1,W,0,4096,1"]))
    arguments = f"--trace '{trace}' --pages-per-block 8 --op 0.2 --repeat 2 --json"
    few, all_ = (in_process.run("simulate", f"{arguments}{more}") for more in ("", " --verbose"))
    found = json.loads(few.out)["notes"]
    assert len(found) > MOST_NOTES
    assert few.err.count(": note: ") == MOST_NOTES + 1
    assert "more notes: --verbose" in few.err
    assert all(f"writeamp: note: {note}\n" in all_.err for note in found)
    assert few.out == all_.out or json.loads(few.out)["wa"] == json.loads(all_.out)["wa"]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_verbose(name: str) -> None:
    assert "verbose" in {one.name for one in COMMANDS[name].params}
