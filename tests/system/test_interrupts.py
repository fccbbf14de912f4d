"""Ctrl-C: heard at once wherever a command is, and what was finished is printed and marked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import tomli_w

import writeamp as wa
from in_process import Done, document, interrupt, interrupted
from patience import PATIENCE_S
from sweeping import plan
from writeamp.studies.sweep.points import SweepDataset

# No thread of these may end by itself before the test does.
ENDLESS = {"blocks": 2048, "op": 0.28}
SLOW_MEAN_FIELD: dict[str, Any] = {
    "pages_per_block": 1024, "spare_factor": 0.05, "d": 50, "d_swap": 8,
    "hot_fraction": 0.2, "hot_write_fraction": 0.77,
}  # fmt: skip
LIVES = "--blocks 64 --pages-per-block 16 --op 0.2 --w-max 100 --replicas 50000"


def options(settings: dict[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


@pytest.mark.parametrize(
    "arguments",
    [
        "compare --managers wolf,oracle --blocks 16384 --writes 1e9 --plot wa.svg",
        f"meanfield --mode hcwf-swap {options(SLOW_MEAN_FIELD)} --plot blocks.svg",
        "endurance --blocks 4096 --w-max 1e5 --threads 100000 --replicas 100 --plot life.svg",
        "simulate --manager oracle --blocks 65536 --writes 1e12 --plot wa.svg",
        "allocate --explore 20 --fill 0.7 --plot space.svg",
        "predict --sweep pages_per_block=16:65536:10000 --op 0.1 --plot wa.svg",
    ],
)
def test_a_command_stops_with_a_sentence_and_leaves_no_file(tmp_path: Path, arguments: str) -> None:
    interrupt(arguments.split(), tmp_path)


def test_a_conversion_that_is_interrupted_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"1000,h,0,Write,0,4096,0\n" * 4_000_000)
    (tmp_path / "out.parquet").write_text("old")
    arguments = "trace convert in.csv out.parquet --from msr --force"
    # When it writes: a draft is beside the two files.
    interrupt(arguments.split(), tmp_path, when=lambda: len(list(tmp_path.iterdir())) > 2)
    assert (tmp_path / "out.parquet").read_text() == "old"


def test_ctrl_c_leaves_no_capture(tmp_path: Path) -> None:
    workload = ["--workload", "random:bs=4k,qd=8", "--time", "1000s"]
    interrupt(
        ["simulate", "--device", "x25-m", "--size", "1GiB", *workload, "--rb-capture", "rb.vcd"],
        tmp_path,
    )


def test_ctrl_c_ends_the_command_with_a_sentence_that_says_how_to_go_on(tmp_path: Path) -> None:
    asked = plan({"replicas": 1000}, run={"writes": 500_000})
    (tmp_path / "sweep.toml").write_text(tomli_w.dumps(asked))
    arguments = ["sweep", "sweep.toml", "--out", "out"]
    out = tmp_path / "out"
    done = interrupted(arguments, tmp_path, when=lambda: any(out.glob("part-*")))
    have = SweepDataset.open(out).rows().height
    assert 0 < have < 1000
    assert (done.status, done.out) == (130, "")
    assert f"{have} of 1000 points are finished and stored in out; run the same command" in done.err


def test_ctrl_c_in_a_search_says_where_its_finished_runs_are(tmp_path: Path) -> None:
    words = ["simulate", "--target-wa", "1.5", "--logical-blocks", "8192", "--keep", "out"]
    done = interrupted(
        [*words, "--writes", "2e7"],
        tmp_path,
        when=lambda: any((tmp_path / "out").glob("part-*")),
    )
    assert (done.status, done.out) == (130, "")
    assert "finished runs are in out; run the same command to continue" in done.err


# Of processor time; the imports take most of the first second of it.
@pytest.mark.parametrize(
    ("after_s", "by"),
    [*((at, signal.SIGINT) for at in (0.1, 0.3, 0.6, 1.0)), (0.3, signal.SIGTERM)],
)
def test_it_is_heard_while_the_command_starts(
    tmp_path: Path, after_s: float, by: signal.Signals
) -> None:
    done = interrupted(["simulate", "--writes", "1e12"], tmp_path, after_s=after_s, by=by)
    assert done == (128 + by, "", "writeamp: interrupted; nothing was written\n")


def part(arguments: str, folder: Path, *, as_json: bool = False, first_s: float = 2.5) -> Done:
    words = [*arguments.split(), *(["--json"] if as_json else [])]
    # How far it is by then depends on the machine; where nothing is finished, it is given longer.
    for after_s in (first_s, 2 * first_s, 4 * first_s):
        done = interrupted(words, folder, after_s=after_s)
        assert done.status == 130
        if not done.err.endswith("nothing was written\n"):
            break
    assert done.err.splitlines()[-1].startswith("writeamp: interrupted; ")
    assert list(folder.iterdir()) == []
    return done


class TestWhatWasFinishedIsPrinted:
    managers = "single,sepgc,dac,sfs,multilog,eti,fadac,warcip,sepbit,midas,wolf,oracle"
    # The first takes a second, and all together much longer than they have.
    compare = f"compare --managers {managers} --writes 1e7 --replicas 1 --plot wa.svg"

    def test_of_a_comparison(self, tmp_path: Path) -> None:
        done = part(self.compare, tmp_path)
        assert "INTERRUPTED after" in " ".join(done.out.split())
        assert "single" in done.out
        assert " of 12 rows are finished; unfinished: " in done.err
        assert done.err.endswith("; no picture was drawn\n")

    def test_of_a_comparison_as_a_document(self, tmp_path: Path) -> None:
        found = json.loads(part(self.compare, tmp_path, as_json=True).out)
        assert found["interrupted"] is True
        rows = [row["manager"] for row in found["rows"]]
        assert "single" in rows
        assert sorted(rows + found["unfinished"]) == sorted(self.managers.split(","))

    def test_of_lives(self, tmp_path: Path) -> None:
        done = part(f"endurance {LIVES} --plot life.svg", tmp_path)
        assert "INTERRUPTED" in done.out
        assert "of 50000 replicas reached their end of life" in done.err

    def test_of_lives_as_a_document(self, tmp_path: Path) -> None:
        found = json.loads(part(f"endurance {LIVES}", tmp_path, as_json=True).out)
        assert (found["interrupted"], found["replicas_asked"]) == (True, 50_000)
        assert 0 < found["replicas"] < 50_000
        assert any("short lives finish first" in note for note in found["notes"])

    def test_of_a_paper(self, tmp_path: Path) -> None:
        done = part("reproduce park2017 --full", tmp_path, first_s=4)
        assert "abstract: uniform-distribution" in done.out
        assert "items above are complete" in done.err


def test_what_is_not_interrupted_has_no_mark() -> None:
    drive = "--blocks 64 --pages-per-block 16 --op 0.2"
    assert "interrupted" not in document("compare", f"{drive} --managers single --writes 20000")
    assert "interrupted" not in document("endurance", f"{drive} --w-max 5 --replicas 2")


@contextmanager
def ctrl_c(after_s: float) -> Iterator[None]:
    timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize(
    "work",
    [
        lambda: wa.simulate(writes=10**12, **ENDLESS),
        lambda: wa.simulate(manager="oracle", writes=10**12, blocks=65536),
        lambda: wa.compare(managers="single,wolf,oracle", writes=10**11, **ENDLESS),
        lambda: wa.endurance(w_max=10**6, replicas=3, **ENDLESS),
        lambda: wa.meanfield.hot_cold_swap(**SLOW_MEAN_FIELD),
    ],
    ids=["simulate", "oracle", "compare", "endurance", "meanfield"],
)
def test_the_library_hears_it_too(work: Callable[[], object]) -> None:
    # None of these ends before a test is given up.
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt) as raised:
        work()
    assert getattr(raised.value, "finished", None) is None


def test_the_library_hands_over_what_was_finished() -> None:
    key = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))

    def press(done: int, _: int) -> None:
        if done and not key.ident:
            key.start()

    with pytest.raises(wa.Interrupted) as raised:
        wa.endurance(blocks=64, pages_per_block=16, w_max=100, replicas=50_000, progress=press)
    found = raised.value.finished
    assert isinstance(found, wa.Endurance)
    assert {*found.unfinished}.isdisjoint(found.seeds)
    assert len(found.unfinished) + found.replicas == 50_000
    whole = wa.endurance(blocks=64, pages_per_block=16, w_max=100, replicas=2)
    mine = found.lives.filter(found.lives["seed"] <= 2)
    assert mine.equals(whole.lives.filter(whole.lives["seed"].is_in(mine["seed"].implode())))


def with_main(body: str, before: str = "") -> str:
    """Return a program that runs the command with another body of its main function."""
    return (
        "import atexit, ctypes, os, signal, time, writeamp.cli, writeamp.__main__ as command\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        f"{before}\ndef main():\n{indent(body, '    ')}\nwriteamp.cli.main = main\ncommand.main()\n"
    )


def ended_alone(command: str, folder: Path) -> tuple[int, str, str]:
    """Run Python code that ends by itself; return its status, and what it prints and complains."""
    done = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=folder,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_process_of_the_command_ends_though_a_library_does_not_hear() -> None:
    # A call that keeps the main thread away from Python, as into a library that looks for nothing.
    deaf = with_main(
        "left = 60\n"
        "print('deaf', flush=True)\n"
        "while left:\n"
        "    left = ctypes.CDLL(None).sleep(left)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", deaf], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "deaf\n"
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, err) == (130, "writeamp: interrupted; nothing was written\n")


def test_an_import_is_finished_before_it_is_heard(tmp_path: Path) -> None:
    # An exception amid the import of a library would be that library's to clean up after.
    (tmp_path / "library.py").write_text(
        "import os, signal\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    sum(range(1000))\n"
        "except BaseException:\n"
        "    print('interrupted amid the import')\n"
    )
    command = with_main(
        "import library\nprint('imported', flush=True)\nwhile True:\n    time.sleep(0.01)",
        f"command._REACTION_S = {PATIENCE_S}",
    )
    ended = ended_alone(command, tmp_path)
    assert ended == (130, "imported\n", "writeamp: interrupted; nothing was written\n")


def test_one_that_comes_where_nothing_can_be_raised_comes_again(tmp_path: Path) -> None:
    command = with_main(
        "try:\n"
        "    Going()\n"
        "    while True:\n"
        "        time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n"
        "    print('what was finished', flush=True)\n"
        "    raise",
        "class Going:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        sum(range(1000))",
    )
    ended = ended_alone(command, tmp_path)
    assert ended == (130, "what was finished\n", "writeamp: interrupted; nothing was written\n")


def test_it_ends_the_command_amid_the_import_of_what_removes_drafts(tmp_path: Path) -> None:
    command = (
        "import sys, types, writeamp.__main__ as command\n"
        "sys.modules['writeamp.files.output'] = types.ModuleType('writeamp.files.output')\n"
        "command._end_loading(2, None)\n"
    )
    ended = ended_alone(command, tmp_path)
    assert ended == (130, "", "writeamp: interrupted; nothing was written\n")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_that_comes_after_all_is_printed_is_the_status(
    tmp_path: Path, by: signal.Signals
) -> None:
    command = with_main(f"print('all')\natexit.register(os.kill, os.getpid(), {by.value})")
    assert ended_alone(command, tmp_path) == (128 + by, "all\n", "")
