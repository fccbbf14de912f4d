"""Seed faults, one at a time, and see that each is found: `make mutants`.

A test or a reproduced paper finds it.

A mutant is a patch in `tests/mutants`. Above its first `---` stand, in lines of their own, what is
wrong then (the first line), and

    area: models
    finder: pytest tests/unit/test_models.py::test_a_name tests/unit/test_other.py
    finder: reproduce park2017
    form: short

Finders are run in their order until one fails; each must pass without the fault. If none of them
fails, all quick ones are tried. Of the short form are those that `make test` seeds, which must
change Python alone. Everything happens in a copy of the files that git knows or would add.

The status is 0 if every mutant was found, 1 if one lives, 2 if a patch or a finder is no good.
"""

from __future__ import annotations

import argparse
import fcntl
import filecmp
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
PATCHES = ROOT / "tests/mutants"
# Of processor time, which a busy machine does not lengthen: a finder that takes more hangs, which
# finds the fault; without one it must not take a third. The patience is for what only waits.
MOST_PROCESSOR_S = 600
PATIENCE_S = 3600.0
# Asked when the finders that a patch names find nothing.
QUICK = (
    "pytest tests/unit papers/tests/unit",
    *(f"reproduce {name}" for name in ("park2017", "verschoren2019", "dayan2015", "four-level")),
)
AREAS = ("models", "engine", "timing", "decoding", "black box", "statistics", "workloads", "papers")
LIBRARY = "python/writeamp/_engine.abi3.so"
BUILD = (
    *("cargo", "build", "--quiet", "--package", "writeamp-python"),
    *("--features", "pyo3/extension-module", "--profile", "mutants"),
)


class UnusableError(Exception):
    """A patch or a finder that says nothing, in a sentence."""


@dataclass(frozen=True)
class Mutant:
    """A seeded fault.

    Attributes:
        path: the patch.
        fault: what is wrong, in a line.
        area: one of `AREAS`.
        finders: commands of which one must fail.
        is_short: whether `make test` seeds it.
    """

    path: Path
    fault: str
    area: str
    finders: tuple[str, ...]
    is_short: bool

    @property
    def name(self) -> str:
        """The patch's file, without its ending."""
        return self.path.stem

    @cached_property
    def is_rust(self) -> bool:
        """True if the engine must be compiled for it."""
        return "\n+++ b/crates/" in self.path.read_text(encoding="utf-8")


def read_mutant(path: Path) -> Mutant:
    """Return the mutant of a patch.

    Raises:
        UnusableError: its head lacks something.
    """
    head, mark, _ = path.read_text(encoding="utf-8").partition("\n--- ")
    fault, *lines = [line for line in head.splitlines() if line]
    keys = [tuple(line.split(": ", 1)) for line in lines if ": " in line]
    area = next((value for key, value in keys if key == "area"), "")
    finders = tuple(value for key, value in keys if key == "finder")
    known = all(one.split()[0] in ("pytest", "reproduce") for one in finders)
    mutant = Mutant(path, fault, area, finders, ("form", "short") in keys)
    if not (mark and len(keys) == len(lines) and area in AREAS and finders and known):
        raise UnusableError(
            f"{path.name}: above a patch stand its fault, 'area: …' ({', '.join(AREAS)}) and "
            "'finder: pytest …' or 'finder: reproduce …'"
        )
    if mutant.is_short and mutant.is_rust:
        raise UnusableError(f"{path.name}: a mutant of the short form must change Python alone")
    return mutant


class Bench:
    """A copy of the sources, in which faults are seeded and undone."""

    def __init__(self, folder: Path) -> None:
        """Bring the copy up to date; what has not changed keeps its time, for cargo.

        Raises:
            UnusableError: someone else works in the folder.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnusableError(f"{folder} is in use; give another --folder, or wait") from None
        self.tree = folder / "tree"
        self._target = folder / "target"
        listed = subprocess.check_output(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            text=True,
        )
        names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
        libraries = [path.relative_to(ROOT) for path in ROOT.glob("python/writeamp/*.so")]
        kept = {self.tree / name for name in (*names, *libraries)}
        for old in self.tree.rglob("*"):
            if old.is_file() and old not in kept:
                old.unlink()
        for path in kept:
            _lay(ROOT / path.relative_to(self.tree), path)

    def compile(self) -> None:
        """Lay the engine of the copy as it is now, compiled in the fast profile, into the copy.

        Raises:
            UnusableError: it does not compile.
        """
        command = [*BUILD, "--target-dir", str(self._target)]
        done = self._run(command, PYO3_NO_PYTHON="1")
        if done.returncode:
            raise UnusableError(f"the engine does not compile: {done.stdout.strip()[-2000:]}")
        _lay(self._target / "mutants/lib_engine.so", self.tree / LIBRARY)

    @contextmanager
    def seeded(self, mutant: Mutant) -> Iterator[None]:
        """Have the fault in the copy, compiled if it is one of the engine."""
        self.apply(mutant)
        try:
            if mutant.is_rust:
                self.compile()
            yield
        finally:
            self.apply(mutant, "--reverse")
            _lay(ROOT / LIBRARY, self.tree / LIBRARY)

    def apply(self, mutant: Mutant, *options: str) -> None:
        """Apply a patch, or undo it, or with `--check` only see that it could be applied.

        Raises:
            UnusableError: it does not apply.
        """
        # Below the ceiling git would take the copy for a part of the repository around it.
        ceiling = str(self.tree.parent)
        done = self._run(
            ["git", "apply", *options, str(mutant.path)], GIT_CEILING_DIRECTORIES=ceiling
        )
        if done.returncode:
            raise UnusableError(f"{mutant.path.name} does not apply: {done.stdout.strip()}")

    def failing(self, finders: Iterable[str]) -> str | None:
        """Return what fails first of the finders in the copy as it is now, or None.

        Raises:
            UnusableError: a finder collects no tests.
        """
        for finder in finders:
            kind, *arguments = finder.split()
            command = [sys.executable, "-m", "writeamp", "reproduce", *arguments]
            if kind == "pytest":
                options = ("-x", "-p", "no:cacheprovider")
                command = [sys.executable, "-m", "pytest", *options, *arguments]
            # Compiled files know a source by its size and second, in which two may be alike.
            own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": self._python_path()}
            try:
                done = self._run(command, preexec_fn=_limit_processor_time, **own)
            except subprocess.TimeoutExpired:
                return f"{finder} (hangs)"
            if done.returncode == -signal.SIGXCPU:
                return f"{finder} (hangs)"
            # Below 0 it was killed; from 2 on pytest has found nothing to run.
            if kind == "pytest" and done.returncode > 1:
                raise UnusableError(f"'{finder}' tests nothing: {done.stdout.strip()[-2000:]}")
            if done.returncode:
                return _first_failure(done.stdout) or finder
        return None

    def _python_path(self) -> str:
        others = os.environ.get("PYTHONPATH")
        own = [str(self.tree / folder) for folder in ("python", "papers")]
        return os.pathsep.join([*own, *([others] if others else [])])

    def _run(
        self,
        command: Sequence[str],
        preexec_fn: Callable[[], None] | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.tree,
            env={**os.environ, **environment},
            preexec_fn=preexec_fn,
            timeout=PATIENCE_S,
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )


def _limit_processor_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_PROCESSOR_S, MOST_PROCESSOR_S + 10))


@dataclass
class Score:
    """Fate of each mutant."""

    found: list[Mutant] = field(default_factory=list)
    living: list[Mutant] = field(default_factory=list)
    unusable: list[Mutant] = field(default_factory=list)

    def note(self, mutant: Mutant, begun: float, finder: str | None) -> None:
        """Add a mutant, and print who found it."""
        (self.living if finder is None else self.found).append(mutant)
        by = "LIVES" if finder is None else f"found by {finder}"
        print(
            f"{mutant.name}: {mutant.fault}\n    {by}, {perf_counter() - begun:.0f} s", flush=True
        )

    def refuse(self, mutant: Mutant, error: UnusableError) -> None:
        """Add a mutant that says nothing, and print why."""
        self.unusable.append(mutant)
        print(f"{mutant.name}: {error}", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        """Return how many were found, by area and of all."""
        every = [*self.found, *self.living, *self.unusable]
        lines = []
        for area in AREAS:
            mine = [mutant for mutant in every if mutant.area == area]
            if mine:
                lines.append(f"{area}: {sum(one in self.found for one in mine)} of {len(mine)}")
        return "\n".join([*lines, f"{len(self.found)} of {len(every)} mutants found"])


def check_patches(mutants: Sequence[Mutant], bench: Bench) -> None:
    """Refuse patches that do not apply, all in one error."""
    stale = []
    for mutant in mutants:
        try:
            bench.apply(mutant, "--check")
        except UnusableError as error:
            stale.append(str(error))
    if stale:
        raise UnusableError("\n".join(stale))


def seed(mutants: Sequence[Mutant], bench: Bench) -> Score:
    """Seed the mutants one after the other, and print who finds each.

    Raises:
        UnusableError: a patch does not apply, or a finder fails without the fault.
    """
    check_patches(mutants, bench)
    score = Score()
    unfound = []
    for is_rust in (False, True):
        those = [mutant for mutant in mutants if mutant.is_rust == is_rust]
        if those and is_rust:
            bench.compile()
        _check_sound({finder for mutant in those for finder in mutant.finders}, bench)
        for mutant in those:
            begun = perf_counter()
            try:
                with bench.seeded(mutant):
                    finder = bench.failing(mutant.finders)
            except UnusableError as error:
                score.refuse(mutant, error)
                continue
            if finder is None:
                unfound.append(mutant)
            else:
                score.note(mutant, begun, finder)
    for mutant in unfound:
        begun = perf_counter()
        if mutant.is_rust:
            bench.compile()
        sound = [finder for finder in QUICK if not bench.failing([finder])]
        with bench.seeded(mutant):
            score.note(mutant, begun, bench.failing(sound))
    return score


def _check_sound(finders: Iterable[str], bench: Bench) -> None:
    """Refuse finders that fail without a fault, or that take too long for a hang to be told."""
    # All tests in one process first: the start takes longer than most of them.
    tests = sorted(finder for finder in finders if finder.startswith("pytest "))
    together = " ".join(["pytest", *(test.removeprefix("pytest ") for test in tests)])
    are_sound = bool(tests) and bench.failing([together]) is None
    for finder in sorted(set(finders) - set(tests if are_sound else ())):
        begun_s = _processor_s()
        if failure := bench.failing([finder]):
            raise UnusableError(f"without any fault, this fails: {failure}")
        if _processor_s() - begun_s > MOST_PROCESSOR_S / 3:
            raise UnusableError(f"'{finder}' takes too long for a finder")


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _first_failure(output: str) -> str | None:
    """Return the test that pytest says has failed, if it says so of one."""
    lines = [line for line in output.splitlines() if line.startswith("FAILED ")]
    return lines[0].removeprefix("FAILED ").split(" - ")[0] if lines else None


def _lay(source: Path, target: Path) -> None:
    """Copy a file unless it is there already, so that what has not changed keeps its time."""
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # Under a new name first: a process may have mapped the old library.
    new = target.with_name(f"{target.name}.new")
    shutil.copyfile(source, new)
    shutil.copymode(source, new)
    new.replace(target)


def main() -> int:
    """Seed what the command line asks for, and print the score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="say what there is, and seed nothing")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants")
    parser.add_argument("--short", action="store_true", help="those of the short form")
    parser.add_argument("--check", action="store_true", help="only see that every patch applies")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutants", help="working copy")
    asked = parser.parse_args()
    begun = perf_counter()
    try:
        mutants = [read_mutant(path) for path in sorted(PATCHES.glob("*.patch"))]
        if unknown := set(asked.only or ()) - {mutant.name for mutant in mutants}:
            raise UnusableError(f"no such mutant: {', '.join(sorted(unknown))}")
        mutants = [one for one in mutants if not asked.only or one.name in asked.only]
        mutants = [one for one in mutants if one.is_short or not asked.short]
        if asked.list:
            for mutant in mutants:
                print(f"{mutant.name:40} {mutant.area:10} {mutant.fault}")
            return 0
        bench = Bench(asked.folder.resolve())
        if asked.check:
            check_patches(mutants, bench)
            print(f"{len(mutants)} patches apply")
            return 0
        score = seed(mutants, bench)
    except UnusableError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{score}, in {(perf_counter() - begun) / 60:.0f} minutes")
    return 2 if score.unusable else 1 if score.living else 0


if __name__ == "__main__":
    sys.exit(main())
