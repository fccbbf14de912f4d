"""Tries command lines, calls and damaged files for a time: `python tests/fuzz --seconds 60`.

Every finding is printed with what repeats it, and its files are kept in build/fuzz.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

# Threads of libraries do not survive a fork.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "COLUMNS": "100"}
os.environ.pop("WRITEAMP_DEBUG", None)

import calls
import checks
import child
import commands
import files
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from typer.main import get_command
from writeamp import cli
from writeamp.cli.verbs import VERBS, load

# Building the parser takes longer than most commands.
_PARSER = get_command(cli.app)


def _command(arguments: list[str]) -> None:
    with patch.object(sys, "argv", ["writeamp", *arguments]), patch.object(cli, "app", _PARSER):
        cli.main()


# What is imported late is imported once, before the forks.
for _name in VERBS:
    load(_name)
for _line in ("predict --op 0.2", "simulate --blocks 64 --op 0.2 --writes 9", "list models"):
    with (
        redirect_stdout(io.TextIOWrapper(io.BytesIO())),
        redirect_stderr(io.TextIOWrapper(io.BytesIO())),
        suppress(SystemExit),
    ):
        _command(_line.split())
_SERVER = child.Server()

_ON_FILES = (
    "trace info trace --json",
    "trace info trace",
    "trace convert trace out.parquet",
    "measure rb trace --device ssd-v --host-bytes 1GiB --json",
    "trace convert trace out.csv --to msr",
    "trace convert trace out.txt --to blkparse",
    "simulate --trace trace --op 0.3 --pages-per-block 4 --repeat 2 --json",
    "simulate --trace trace --mapping as-is --op 0.3 --blocks 64 --json",
    "simulate --device drive.toml --writes 2000 --json",
    "simulate run.toml --json",
    "compare run.toml --json",
    "endurance run.toml",
)
KEPT = Path("build/fuzz")
_ROUND = 200
_MOST_FINDINGS = 50
_MOST_ALIKE = 2
# So many share a process: to fork one takes as long as several calls.
_TOGETHER = 50


@dataclass(frozen=True)
class Attempt:
    """Attempt of a call: its words, its task, and the check of its end."""

    what: str
    task: child.Task
    fault: Callable[[child.Ended], str | None]


class Fuzzer:
    """Counts what was tried and keeps what was found."""

    def __init__(self, folder: Path, seconds: float, examples: int | None, start: int) -> None:
        """Try for so many seconds, or so many examples, from the seed `start` on."""
        self.folder, self.examples, self.seed = folder, examples, start
        self.end = time.monotonic() + seconds
        self.tried = 0
        self.waiting: list[Attempt] = []
        self.findings: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.slowest = (0.0, "nothing")

    @property
    def is_over(self) -> bool:
        """True if time, or patience, is over."""
        spent = time.monotonic() > self.end
        enough = self.examples is not None and self.tried >= self.examples
        return spent or enough or len(self.findings) >= _MOST_FINDINGS

    def try_command(self, arguments: list[str], contents: dict[str, bytes]) -> None:
        """Run a command line beside files."""
        self.attempt(
            Attempt(
                shlex.join(["writeamp", *arguments]),
                child.Task(partial(_command, arguments), contents),
                partial(checks.fault_of_command, arguments),
            )
        )

    def try_call(self, name: str, arguments: dict[str, Any]) -> None:
        """Make a call of the library."""
        self.attempt(
            Attempt(
                f"writeamp.{name}(**{_shown(arguments)})",
                child.Task(partial(calls.make, name, arguments), {}),
                checks.fault_of_call,
            )
        )

    def attempt(self, one: Attempt) -> None:
        """Try something, together with others."""
        if self.is_over:
            return
        self.waiting.append(one)
        left = _TOGETHER if self.examples is None else self.examples - self.tried
        if len(self.waiting) >= min(_TOGETHER, left):
            self.try_waiting()

    def try_waiting(self) -> None:
        """Try what waits in one process; what is wrong there, or was not reached, alone."""
        waiting, self.waiting = self.waiting, []
        together = _SERVER.run([one.task for one in waiting], self.folder)
        for place, one in enumerate(waiting):
            ended = together[place] if place < len(together) else None
            fault = None if ended is None else one.fault(ended)
            if ended is not None and fault is None:
                self.note(one, None, ended)
                continue
            [alone] = _SERVER.run([one.task], self.folder)
            is_cause = place == len(together)
            among = fault or ("its process ends" if is_cause else None)
            told = among and f"{among}, but only after others (seed {self.seed})"
            self.note(one, one.fault(alone) or told, ended or alone)

    def note(self, one: Attempt, fault: str | None, ended: child.Ended) -> None:
        """Count a try; keep and report what is wrong with it."""
        self.tried += 1
        self.slowest = max(self.slowest, (ended.cpu_s, one.what[:300]))
        if fault is None:
            return
        last = (ended.err.strip().splitlines() or [""])[-1]
        kind = f"{fault}: {last}"[:80]
        self.kinds[kind] += 1
        if self.kinds[kind] > _MOST_ALIKE:
            return
        place = KEPT / str(len(self.findings) + 1)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder, place)
        (place / "repeat.txt").write_text(f"{one.what}\n{fault}\n{ended.err}\n", "utf-8", "replace")
        self.findings.append(one.what)
        print(f"finding: cd {place} && {one.what[:2000]}\n  {fault}: {last[:500]}", flush=True)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:
        return "{…a number of thousands of digits…}"


def rounds(fuzzer: Fuzzer) -> None:
    """Try a round of each kind after the other, until it is over."""
    options = settings(
        max_examples=_ROUND,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    everything = st.fixed_dictionaries(
        {"trace": files.any_trace(), "drive.toml": files.devices(), "run.toml": files.experiments()}
    )
    on_files = [line.split() for line in _ON_FILES]
    kinds = (
        (commands.command_lines(), st.just({}), fuzzer.try_command),
        (st.sampled_from(on_files), everything, fuzzer.try_command),
        (commands.command_lines(("trace info", "simulate")), everything, fuzzer.try_command),
    )
    while not fuzzer.is_over:
        number = fuzzer.seed
        for arguments, contents, attempt in kinds:
            seed(number)(options(given(arguments, contents)(attempt)))()
        seed(number)(options(given(calls.calls())(lambda call: fuzzer.try_call(*call))))()
        fuzzer.try_waiting()
        fuzzer.seed += 1


def run() -> int:
    """Read the command line, try, and report."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--examples", type=int, help="stop after so many tries, too")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    asked = parser.parse_args()
    print(f"fuzzing for {asked.seconds:g} s, seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder) / "in", asked.seconds, asked.examples, asked.seed)
        rounds(fuzzer)
    print(
        f"{fuzzer.tried} tries, {len(fuzzer.findings)} findings; "
        f"the longest took {fuzzer.slowest[0]:.1f} s: {fuzzer.slowest[1]}"
    )
    return 1 if fuzzer.findings else 0


sys.exit(run())
