"""Shards: parts of a study that run by themselves, as in arrays of batch jobs.

Shard I of N runs every N-th run of the study, and stores them in a folder. A study without a shard
that is given all the folders finds every run stored, and shows the result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

from writeamp.errors import WriteampError
from writeamp.files.output import AnyPath
from writeamp.results.numbers import plural

T = TypeVar("T")

SLURM = "slurm"
_MOST_SHARDS = 1_000_000
_I_OF_N = re.compile(r"([0-9]{1,7})/([0-9]{1,7})")


@dataclass(frozen=True)
class Shard:
    """Shard `number`, from 1 on, of `count` shards."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard that a text such as "2/7" names.

        Raises:
            WriteampError: the text has another form, or the shard does not exist.
        """
        match = _I_OF_N.fullmatch(text)
        if match is None:
            raise WriteampError(
                f"shard is {text!r}; it must be I/N, such as 2/7 for the second of seven shards, "
                f"or {SLURM} in an array of Slurm"
            )
        number, count = int(match[1]), int(match[2])
        if not 1 <= number <= count <= _MOST_SHARDS:
            raise WriteampError(
                f"shard is {text}; the first number must be from 1 to the second, and the second "
                f"at most {_MOST_SHARDS}"
            )
        return cls(number, count)

    @classmethod
    def of_slurm(cls, variables: Mapping[str, str] = os.environ) -> Self:
        """Return the shard of this task of a Slurm array.

        Raises:
            WriteampError: the process is not a task of an array, or the array has a single task,
                begins above 1, or has gaps.
        """
        task, first, last, count, step = (
            _number(variables, f"SLURM_ARRAY_TASK_{name}", default)
            for name, default in (
                ("ID", None), ("MIN", None), ("MAX", None), ("COUNT", None), ("STEP", "1"),
            )
        )  # fmt: skip
        tasks = range(first, last + 1, max(step, 1))
        # Other arrays repeat some tasks of another array, whose number of tasks is not known.
        if first > 1 or count == 1 or len(tasks) != count or task not in tasks:
            raise WriteampError(
                f"this array of Slurm has {plural(count, 'task')} from {first} to {last}; "
                f"{SLURM} needs at least two, numbered from 0 or 1 without gaps; give --shard I/N"
            )
        return cls(tasks.index(task) + 1, count)

    def share(self, jobs: Sequence[T], offset: int = 0) -> list[T]:
        """Return the jobs of this shard; `offset` jobs of the study precede them."""
        return list(jobs[(self.number - 1 - offset) % self.count :: self.count])

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.number}/{self.count}"


def _number(variables: Mapping[str, str], name: str, default: str | None) -> int:
    value = variables.get(name, default)
    if value is None or not re.fullmatch("[0-9]{1,9}", value):
        raise WriteampError(
            f"{name} is {'not set' if value is None else repr(value)}, so that this is not a task "
            "of a Slurm array (sbatch --array=1-7); give --shard I/N"
        )
    return int(value)


@dataclass(frozen=True)
class Folders:
    """Folders of a study's runs: the first gets new runs, and copies of the runs of the others.

    With a `shard`, the study runs only that part.
    """

    first: AnyPath
    others: tuple[AnyPath, ...] = ()
    shard: Shard | None = None


# Value of the argument `keep` of studies.
Keep: TypeAlias = "AnyPath | Sequence[AnyPath] | Folders"


def folders_of(keep: Keep) -> Folders:
    """Return the folders that an argument `keep` names.

    Raises:
        WriteampError: it is an empty list.
    """
    if isinstance(keep, Folders):
        return keep
    if not isinstance(keep, list | tuple):
        return Folders(keep)  # type: ignore[arg-type]  # the dataset checks it
    if not keep:
        raise WriteampError("keep is an empty list; name a folder, or leave it out")
    return Folders(keep[0], tuple(keep[1:]))


@dataclass(frozen=True)
class ShardCounts:
    """Outcome of a shard: counts of its runs, which are stored in a folder.

    Attributes:
        shard: the shard.
        runs: number of its runs.
        runs_of_all: number of runs of all shards.
        done: runs of this call that did not fail.
        skipped: runs that were stored before; `failed_before` of them failed.
        failed: runs of this call that failed; `failures` has the reasons.
        out: the folder.
        is_interrupted: whether Ctrl-C ended it.
    """

    shard: Shard
    runs: int
    runs_of_all: int
    done: int
    skipped: int
    failed: int
    failed_before: int
    out: str
    failures: tuple[str, ...] = ()
    is_interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the counts with the keys of `--shard I/N --json`."""
        names = ("runs", "runs_of_all", "done", "skipped", "failed", "failed_before", "out")
        return {"shard": str(self.shard), **{name: getattr(self, name) for name in names}}

    @property
    def progress(self) -> str:
        """Sentence on the stored runs of the shard."""
        return f"{self.done + self.skipped} of {plural(self.runs, 'run')} of shard {self.shard}"


class ShardDone(Exception):  # noqa: N818 (not an error: the result needs the other shards)
    """The jobs of a shard have run; `counts` has its outcome."""

    def __init__(self, counts: ShardCounts) -> None:
        """Set the outcome."""
        super().__init__()
        self.counts = counts
