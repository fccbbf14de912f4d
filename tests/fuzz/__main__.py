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
from contextlib import redirect_stderr, redirect_stdout, suppress
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


class Fuzzer:
    """Counts what was tried and keeps what was found."""

    def __init__(self, folder: Path, seconds: float, examples: int | None) -> None:
        """Try for so many seconds, or so many examples."""
        self.folder, self.examples = folder, examples
        self.end = time.monotonic() + seconds
        self.tried = 0
        self.findings: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.slowest = (0.0, "nothing")

    @property
    def is_over(self) -> bool:
        """Whether time, or patience, is over."""
        spent = time.monotonic() > self.end
        enough = self.examples is not None and self.tried >= self.examples
        return spent or enough or len(self.findings) >= _MOST_FINDINGS

    def try_command(self, arguments: list[str], contents: dict[str, bytes]) -> None:
        """Run a command line beside files."""
        if self.is_over:
            return
        self.fill(contents)
        ended = _SERVER.run(partial(_command, arguments), self.folder)
        self.note(
            shlex.join(["writeamp", *arguments]), checks.fault_of_command(arguments, ended), ended
        )

    def try_call(self, name: str, arguments: dict[str, Any]) -> None:
        """Make a call of the library."""
        if self.is_over:
            return
        self.fill({})
        ended = _SERVER.run(partial(calls.make, name, arguments), self.folder)
        self.note(f"writeamp.{name}(**{_shown(arguments)})", checks.fault_of_call(ended), ended)

    def fill(self, contents: dict[str, bytes]) -> None:
        """Put files into the folder, and nothing else."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name, content in contents.items():
            (self.folder / name).write_bytes(content)

    def note(self, what: str, fault: str | None, ended: child.Ended) -> None:
        """Count a try; keep and report what is wrong with it."""
        self.tried += 1
        self.slowest = max(self.slowest, (ended.cpu_s, what[:300]))
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
        (place / "repeat.txt").write_text(f"{what}\n{fault}\n{ended.err}\n", "utf-8", "replace")
        self.findings.append(what)
        print(f"finding: cd {place} && {what[:2000]}\n  {fault}: {last[:500]}", flush=True)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:
        return "{…a number of thousands of digits…}"


def rounds(fuzzer: Fuzzer, start: int) -> None:
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
    number = start
    while not fuzzer.is_over:
        for arguments, contents, attempt in kinds:
            seed(number)(options(given(arguments, contents)(attempt)))()
        seed(number)(options(given(calls.calls())(lambda call: fuzzer.try_call(*call))))()
        number += 1


def run() -> int:
    """Read the command line, try, and report."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--examples", type=int, help="stop after so many tries, too")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    asked = parser.parse_args()
    print(f"fuzzing for {asked.seconds:g} s, seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder) / "in", asked.seconds, asked.examples)
        rounds(fuzzer, asked.seed)
    print(
        f"{fuzzer.tried} tries, {len(fuzzer.findings)} findings; "
        f"the longest took {fuzzer.slowest[0]:.1f} s: {fuzzer.slowest[1]}"
    )
    return 1 if fuzzer.findings else 0


sys.exit(run())
