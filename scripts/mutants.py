"""Seed faults one at a time, and check that each is detected: `make mutants`.

Tests or reproduced papers detect them.

A mutant is a patch in `tests/mutants`. The lines above its first `---` are a description of the
fault (the first line), and

    area: models
    finder: pytest tests/unit/test_models.py::test_a_name tests/unit/test_other.py
    finder: reproduce park2017
    form: short

A finder is a command that should fail if the fault is seeded. Finders run in this order until one
fails; each must pass without the fault. If none fails, all quick finders are tried. `make test`
seeds only mutants with `form: short`, which must change Python only.
The script works in a copy of the files that git tracks or would add.

The exit status is 0 if all mutants were detected, 1 if one was not, and 2 if a patch or a finder is
unusable.
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
# Limits of a finder's processor time and wall time, in seconds. A finder that takes more processor
# time hangs, so it has detected the fault. Without a fault, it may take a third of this time.
MOST_PROCESSOR_S = 600
PATIENCE_S = 3600.0
# Finders to try if the finders of a patch do not detect the fault.
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
    """Unusable patch or finder; the message is a sentence on the fault."""


@dataclass(frozen=True)
class Mutant:
    """A seeded fault.

    Attributes:
        path: the patch.
        fault: description of the fault in one line.
        area: one of `AREAS`.
        finders: commands; at least one must fail.
        is_short: True if `make test` seeds it.
    """

    path: Path
    fault: str
    area: str
    finders: tuple[str, ...]
    is_short: bool

    @property
    def name(self) -> str:
        """Name of the patch's file without its suffix."""
        return self.path.stem

    @cached_property
    def is_rust(self) -> bool:
        """True if the patch changes the engine, which must then be compiled."""
        return "\n+++ b/crates/" in self.path.read_text(encoding="utf-8")


def read_mutant(path: Path) -> Mutant:
    """Return the mutant of a patch.

    Raises:
        UnusableError: an incomplete head.
    """
    head, mark, _ = path.read_text(encoding="utf-8").partition("\n--- ")
    fault, *lines = [line for line in head.splitlines() if line]
    keys = [tuple(line.split(": ", 1)) for line in lines if ": " in line]
    area = next((value for key, value in keys if key == "area"), "")
    finders = tuple(value for key, value in keys if key == "finder")
    are_known = all(finder.split()[0] in ("pytest", "reproduce") for finder in finders)
    mutant = Mutant(path, fault, area, finders, ("form", "short") in keys)
    if not (mark and len(keys) == len(lines) and area in AREAS and finders and are_known):
        raise UnusableError(
            f"{path.name}: the head must have a description of the fault, 'area: …' "
            f"({', '.join(AREAS)}) and 'finder: pytest …' or 'finder: reproduce …'"
        )
    if mutant.is_short and mutant.is_rust:
        raise UnusableError(f"{path.name}: a mutant of the short form must change Python only")
    return mutant


class Bench:
    """A copy of the sources, in which faults are seeded and undone."""

    def __init__(self, folder: Path) -> None:
        """Update the copy; unchanged files keep their times, for cargo.

        Raises:
            UnusableError: another process uses the folder.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnusableError(f"{folder} is in use; wait, or give another --folder") from None
        self.tree = folder / "tree"
        self._target = folder / "target"
        listed = subprocess.check_output(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            text=True,
        )
        names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
        libraries = [path.relative_to(ROOT) for path in ROOT.glob("python/writeamp/*.so")]
        current = {self.tree / name for name in (*names, *libraries)}
        for old in self.tree.rglob("*"):
            if old.is_file() and old not in current:
                old.unlink()
        for path in current:
            _lay(ROOT / path.relative_to(self.tree), path)

    def compile(self) -> None:
        """Compile the engine of the copy in the fast profile, and install it in the copy.

        Raises:
            UnusableError: compilation failed.
        """
        command = [*BUILD, "--target-dir", str(self._target)]
        done = self._run(command, PYO3_NO_PYTHON="1")
        if done.returncode:
            raise UnusableError(f"the engine does not compile: {done.stdout.strip()[-2000:]}")
        _lay(self._target / "mutants/lib_engine.so", self.tree / LIBRARY)

    @contextmanager
    def seeded(self, mutant: Mutant) -> Iterator[None]:
        """Apply the fault to the copy within this context; compile the engine if necessary."""
        self.apply(mutant)
        try:
            if mutant.is_rust:
                self.compile()
            yield
        finally:
            self.apply(mutant, "--reverse")
            _lay(ROOT / LIBRARY, self.tree / LIBRARY)

    def apply(self, mutant: Mutant, *options: str) -> None:
        """Apply a patch, or with options of `git apply` reverse or check it.

        Raises:
            UnusableError: the patch does not apply.
        """
        # Otherwise git would treat the copy as a part of the enclosing repository.
        ceiling = str(self.tree.parent)
        done = self._run(
            ["git", "apply", *options, str(mutant.path)], GIT_CEILING_DIRECTORIES=ceiling
        )
        if done.returncode:
            raise UnusableError(f"{mutant.path.name} does not apply: {done.stdout.strip()}")

    def failing(self, finders: Iterable[str]) -> str | None:
        """Return the first failure of the finders in the copy, or None.

        Raises:
            UnusableError: a finder collects no tests.
        """
        for finder in finders:
            kind, *arguments = finder.split()
            command = [sys.executable, "-m", "writeamp", "reproduce", *arguments]
            if kind == "pytest":
                options = ("-x", "-p", "no:cacheprovider")
                command = [sys.executable, "-m", "pytest", *options, *arguments]
            # Bytecode files are matched by size and time in seconds; two patches may have the same.
            own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": self._python_path()}
            try:
                done = self._run(command, preexec_fn=_limit_processor_time, **own)
            except subprocess.TimeoutExpired:
                return f"{finder} (hangs)"
            if done.returncode == -signal.SIGXCPU:
                return f"{finder} (hangs)"
            # Statuses from 2 on mean that pytest ran no tests; negative ones are signals.
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
    """Outcomes of mutants."""

    detected: list[Mutant] = field(default_factory=list)
    living: list[Mutant] = field(default_factory=list)
    unusable: list[Mutant] = field(default_factory=list)

    def note(self, mutant: Mutant, begun: float, finder: str | None) -> None:
        """Add a mutant, and print the finder that detected it."""
        (self.living if finder is None else self.detected).append(mutant)
        by = "LIVES" if finder is None else f"found by {finder}"
        print(
            f"{mutant.name}: {mutant.fault}\n    {by}, {perf_counter() - begun:.0f} s", flush=True
        )

    def refuse(self, mutant: Mutant, error: UnusableError) -> None:
        """Add an unusable mutant, and print the reason."""
        self.unusable.append(mutant)
        print(f"{mutant.name}: {error}", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        """Return the numbers of detected mutants, by area and in total."""
        every = [*self.detected, *self.living, *self.unusable]
        lines = []
        for area in AREAS:
            mine = [mutant for mutant in every if mutant.area == area]
            if mine:
                lines.append(
                    f"{area}: {sum(mutant in self.detected for mutant in mine)} of {len(mine)}"
                )
        return "\n".join([*lines, f"{len(self.detected)} of {len(every)} mutants found"])


def check_patches(mutants: Sequence[Mutant], bench: Bench) -> None:
    """Check that all patches apply; one error lists all that do not."""
    stale = []
    for mutant in mutants:
        try:
            bench.apply(mutant, "--check")
        except UnusableError as error:
            stale.append(str(error))
    if stale:
        raise UnusableError("\n".join(stale))


def seed(mutants: Sequence[Mutant], bench: Bench) -> Score:
    """Seed the mutants one after the other, and print the finder of each.

    Raises:
        UnusableError: a patch does not apply, or a finder fails without a fault.
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
    """Check that finders pass without a fault, quickly enough that hangs can be detected."""
    # First all tests in one process, because starting takes longer than most tests.
    tests = sorted(finder for finder in finders if finder.startswith("pytest "))
    together = " ".join(["pytest", *(test.removeprefix("pytest ") for test in tests)])
    are_sound = bool(tests) and bench.failing([together]) is None
    for finder in sorted(set(finders) - set(tests if are_sound else ())):
        begun_s = _processor_s()
        if failure := bench.failing([finder]):
            raise UnusableError(f"without any fault, this fails: {failure}")
        if _processor_s() - begun_s > MOST_PROCESSOR_S / 3:
            raise UnusableError(
                f"'{finder}' takes more than {MOST_PROCESSOR_S / 3:.0f} s without a fault; use a "
                "quicker finder"
            )


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _first_failure(output: str) -> str | None:
    """Return the first failed test in pytest's output, or None."""
    lines = [line for line in output.splitlines() if line.startswith("FAILED ")]
    return lines[0].removeprefix("FAILED ").split(" - ")[0] if lines else None


def _lay(source: Path, target: Path) -> None:
    """Copy a file if it differs; unchanged files keep their times."""
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A process may have mapped the old library, so it is replaced, not overwritten.
    new = target.with_name(f"{target.name}.new")
    shutil.copyfile(source, new)
    shutil.copymode(source, new)
    new.replace(target)


def main() -> int:
    """Seed the mutants selected by the command line, and print the score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--list", action="store_true", help="list the mutants without applying them"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants")
    parser.add_argument("--short", action="store_true", help="mutants of the short form")
    parser.add_argument("--check", action="store_true", help="only check that all patches apply")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutants", help="working copy")
    options = parser.parse_args()
    begun = perf_counter()
    try:
        mutants = [read_mutant(path) for path in sorted(PATCHES.glob("*.patch"))]
        if unknown := set(options.only or ()) - {mutant.name for mutant in mutants}:
            raise UnusableError(f"no such mutant: {', '.join(sorted(unknown))}")
        mutants = [mutant for mutant in mutants if not options.only or mutant.name in options.only]
        mutants = [mutant for mutant in mutants if mutant.is_short or not options.short]
        if options.list:
            for mutant in mutants:
                print(f"{mutant.name:40} {mutant.area:10} {mutant.fault}")
            return 0
        bench = Bench(options.folder.resolve())
        if options.check:
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
