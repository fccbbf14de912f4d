"""Tries command lines and calls of the library for a time: `python tests/fuzz --seconds 60`.

Call number N of a seed is always the same. Every finding is printed with what repeats it, and its
files are kept in build/fuzz.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import random
import re
import resource
import shlex
import shutil
import sys
import tempfile
import threading
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import accumulate
from pathlib import Path
from unittest.mock import patch

# Threads of libraries do not survive a fork, and workers share the processors already.
os.environ |= dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
) | {"COLUMNS": "100", "WRITEAMP_DEBUG": "1"}
sys.path.append(str(Path(__file__).parents[1] / "support"))

import calls
import checks
import child
import commands
import files
import lines
import making
from call import Call
from pool import Pool, Tried
from reducing import reduced
from table import Table

from writeamp.cli import main as run_command
from writeamp.cli import root
from writeamp.cli.verbs import load, verbs

KEPT = Path("build/fuzz")
_MOST_KINDS = 50
_TELLS_EVERY_S = 60
_SHARES = {
    **{verb: lines.SHARES.get(verb, lines.USUAL_SHARE) for verb in lines.LINES},
    **{f"wa.{name}": calls.SHARES.get(name, calls.USUAL_SHARE) for name in calls.CALLS},
}


class Fuzzer:
    """Draws calls by their numbers, counts what became of them, and keeps what was found."""

    def __init__(self, samples: files.Samples, folder: Path, seed: int, kind: str) -> None:
        """Draw calls on files like the samples, by a seed, of kinds that begin so."""
        unmade = commands.unmade(samples)
        assert not unmade, f"there are no samples of {sorted(unmade)}"
        self.samples, self.folder, self.seed, self.kind = samples, folder, seed, kind
        shares = {name: share for name, share in _SHARES.items() if name.startswith(kind)}
        self.kinds, self.weights = list(shares), list(accumulate(shares.values()))
        self.table = Table()
        self.found: dict[str, int] = {}

    def draw(self, number: int) -> Call:
        """Return a call by its number."""
        rng = random.Random(f"{self.seed}/{number}")
        [kind] = rng.choices(self.kinds, cum_weights=self.weights)
        draw = calls.draw if kind.startswith("wa.") else commands.draw
        return draw(rng, kind, self.samples)

    def note(self, tried: Tried) -> None:
        """Count a call; make one that failed again, alone, and keep what repeats it."""
        fault = tried.fault
        if fault is not None:
            call = self.draw(tried.number)
            ended = child.alone(call, self.folder / "alone")
            again = checks.fault_of(call, ended)
            if again is None and not tried.is_end:
                fault = f"{fault}, but only after others"
            self._keep(tried.number, call, again or fault, ended)
        self.table.add(tried)

    def _keep(self, number: int, call: Call, fault: str, ended: checks.Ended) -> None:
        kind = self._kind(call, fault, ended)
        self.found[kind] = self.found.get(kind, 0) + 1
        if self.found[kind] > 1:
            return

        def fails(smaller: Call) -> bool:
            end = child.alone(smaller, self.folder / "alone")
            again = checks.fault_of(smaller, end)
            return again is not None and self._kind(smaller, again, end) == kind

        if ended.elapsed_s < 1 and "after others" not in fault:
            call = reduced(call, fails)
            ended = child.alone(call, self.folder / "alone")
        place = KEPT / str(len(self.found))
        shutil.rmtree(place, ignore_errors=True)
        for name, content in call.contents.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        place.mkdir(parents=True, exist_ok=True)
        repeat = f"python tests/fuzz --seed {self.seed} --only {number}"
        repeat += f" --kind '{self.kind}'" if self.kind else ""
        text = f"{call.shown}\n{repeat}\n{fault}\n{ended.err}\n{ended.out[:5000]}\n"
        (place / "repeat.txt").write_text(text, "utf-8", "replace")
        last = (ended.err.strip().splitlines() or [""])[-1]
        print(
            f"finding {len(self.found)}: cd {place} && {call.shown[:1500]}\n"
            f"  {fault}: {last[:400]}\n  as drawn: {repeat}".encode("utf-8", "replace").decode(),
            flush=True,
        )

    @staticmethod
    def _kind(call: Call, fault: str, ended: checks.Ended) -> str:
        """Return what is alike of findings that are one: where an error is raised, if one is."""
        if places := re.findall(r'File ".*?/writeamp/(.*?)", line (\d+)', ended.err):
            error = ended.err.strip().splitlines()[-1].partition(":")[0]
            return f"{':'.join(places[-1])} {error}"[:110]
        last = (ended.err.strip().splitlines() or [""])[-1]
        alike = re.sub(r"'[^']*'|\"[^\"]*\"|[\d.]+", "…", f"{fault}: {last}")
        return f"{call.kind}: {alike}"[:110]


def _command(line: str) -> str:
    """Run a command line that works, and return what it prints."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with (
        patch.object(sys, "argv", ["writeamp", *shlex.split(line)]),
        patch.object(root, "app", child.PARSER),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            run_command()
        except SystemExit as ended:
            if ended.code:
                err.seek(0)
                raise RuntimeError(f"{line}: {err.read()}") from None
    out.seek(0)
    return out.read()


def _made_samples(folder: Path) -> files.Samples:
    """Make the samples in another process, and import here what that needed: once, for all."""
    folder.mkdir()

    def made() -> list[str]:
        making.make(folder, _command)
        return list(sys.modules)

    for name in child.in_fork(made):
        with suppress(ImportError):
            importlib.import_module(name)
    for verb in verbs():
        load(verb)
    assert threading.active_count() == 1, "a thread does not survive a fork"
    return files.samples_in(folder)


def run() -> int:
    """Read the command line, try, and report."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--calls", type=int, help="stop after so many calls, too")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--only", type=int, metavar="N", help="make call N, and show how it ends")
    parser.add_argument("--kind", default="", help="try only calls whose kind begins so")
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_quick_folder()) as name:
        folder = Path(name).resolve()
        fuzzer = Fuzzer(_made_samples(folder / "samples"), folder, asked.seed, asked.kind)
        gc.freeze()
        if asked.only is not None:
            return _show(fuzzer, asked.only)
        print(f"fuzzing for {asked.seconds:g} s, seed {asked.seed}", flush=True)
        told = began
        for tried in Pool(fuzzer.draw, folder, began + asked.seconds).results(asked.calls):
            fuzzer.note(tried)
            if time.monotonic() > told + _TELLS_EVERY_S:
                told = time.monotonic()
                print(f"{told - began:,.0f} s: {fuzzer.table.total.tries:,} calls", flush=True)
            if len(fuzzer.found) >= _MOST_KINDS:
                break
    elapsed_s = time.monotonic() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = sum(each.ru_utime + each.ru_stime for each in used)
    print("\n".join(fuzzer.table.lines()))
    tries = fuzzer.table.total.tries
    print(
        f"\n{tries:,} calls in {elapsed_s:,.0f} s ({tries / elapsed_s:.0f} a second, "
        f"{tries / cpu_s:.0f} a second of a processor), "
        f"{sum(fuzzer.found.values())} findings of {len(fuzzer.found)} kinds; seed {asked.seed}"
    )
    for kind, count in fuzzer.found.items():
        print(f"{count} × {kind!r}")
    return 1 if fuzzer.found else 0


def _quick_folder() -> str | None:
    """Return where files are in memory, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _show(fuzzer: Fuzzer, number: int) -> int:
    call = fuzzer.draw(number)
    ended = child.alone(call, fuzzer.folder / "alone")
    fault = checks.fault_of(call, ended)
    place = KEPT / f"only-{number}"
    for name, content in call.contents.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    text = f"cd {place} && {call.shown}\n{ended}\n{fault or 'nothing is wrong with that'}"
    print(text.encode("utf-8", "replace").decode())
    return 0 if fault is None else 1


sys.exit(run())
