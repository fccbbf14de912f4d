"""Study: many runs by any runner, each kept in a folder, so that a second call skips it.

A study gives jobs, the work that does one, and a `RowCodec` that says what a job means and how its
result is written. `RunStore.gather` does the jobs that have no result yet, as `runners.gather` does
all of them; `keep_runs` opens the folder for as long as a study lasts.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import polars as pl

from writeamp._engine import __version__
from writeamp.errors import Interrupted, WriteampError
from writeamp.fields.domains import file_name
from writeamp.runners import Progress, Runner, gather
from writeamp.runners.runner import Lost
from writeamp.studies.dataset import KEY, Contents, Dataset
from writeamp.studies.sink import Sink

J = TypeVar("J")
T = TypeVar("T")
_JobT_contra = TypeVar("_JobT_contra", contravariant=True)

# What is no document of a result fails with one of these.
_FAULTS = (TypeError, ValueError, KeyError, IndexError, RecursionError)

RUN_SCHEMA: Mapping[str, Any] = {
    "hash": pl.String,
    "version": pl.String,
    "verb": pl.String,
    "name": pl.String,
    "seed": pl.UInt64,
    "error": pl.String,
    "wa": pl.Float64,
    "meaning": pl.String,
    "result": pl.String,
}


class RunsDataset(Dataset):
    """The runs of studies in one folder."""

    contents = Contents("study", "runs", RUN_SCHEMA, version=1)


class _FolderError(Exception):
    """Folder that cannot be read or written; no study takes it for a run that cannot be."""


class RowCodec(Protocol[_JobT_contra, T]):
    """Rules for keeping a study's jobs and their results as rows of a dataset."""

    @property
    def stored(self) -> Sequence[str]:
        """Columns that `restored` reads, besides those of the key and `error`."""

    def key(self, job: _JobT_contra) -> str:
        """Return the hash of everything that decides the result."""

    def columns(self, job: _JobT_contra, result: T) -> Mapping[str, Any]:
        """Return the row of a result: its hash, its `error`, null if there is none, and others."""

    def restored(self, job: _JobT_contra, row: Mapping[str, Any]) -> T:
        """Return the result that a row holds.

        Raises:
            WriteampError: it holds something else, as do a TypeError, ValueError and KeyError.
        """


@dataclass(frozen=True)
class RunFacts:
    """Columns of a kept run beside its result, for people who open the file.

    `error` says why a run that is kept found nothing; one of the same meaning that did counts more.
    `more` has the columns that a dataset of its own has besides.
    """

    name: str
    seed: int
    wa: float | None
    error: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


class DocumentCodec(ABC, Generic[J, T]):
    """Codec of a `RunsDataset`, whose rows hold a job's meaning and result as JSON."""

    verb: ClassVar[str]
    stored: Sequence[str] = ("result",)

    @abstractmethod
    def meaning(self, job: J) -> Mapping[str, Any]:
        """Return everything that decides the result, as JSON types."""

    @abstractmethod
    def facts(self, job: J, result: T) -> RunFacts:
        """Return the columns of a kept run for people who open the file."""

    @abstractmethod
    def document(self, job: J, result: T) -> Any:
        """Return the result as JSON types."""

    @abstractmethod
    def result(self, job: J, document: Any) -> T:
        """Return the result that a document holds.

        Raises:
            WriteampError: it holds something else.
        """

    def key(self, job: J) -> str:
        """Return the digest of what a job means."""
        return hashlib.sha256(self._meaning_text(job).encode()).hexdigest()

    def columns(self, job: J, result: T) -> Mapping[str, Any]:
        """Return the row of a result, its document among the columns."""
        meaning, facts = self._meaning_text(job), self.facts(job, result)
        return {
            "hash": hashlib.sha256(meaning.encode()).hexdigest(),
            "verb": self.verb,
            "name": facts.name,
            "seed": facts.seed,
            "error": facts.error,
            "wa": facts.wa,
            "meaning": meaning,
            "result": json.dumps(
                self.document(job, result), separators=(",", ":"), allow_nan=False
            ),
            **facts.more,
        }

    def restored(self, job: J, row: Mapping[str, Any]) -> T:
        """Return the result in the document of a row."""
        found = self.result(job, json.loads(row["result"]))
        self.facts(job, found)  # which takes what it holds to be whole
        return found

    def _meaning_text(self, job: J) -> str:
        meaning = {"verb": self.verb, **self.meaning(job)}
        return json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class StoreStats:
    """Runs of a study that were kept: where, how many of them now, how many before.

    Attributes:
        out: the folder.
        done: runs that were kept now; `failed` of them with an error.
        skipped: those that were there already; `failed_before` of them with an error.
        of_other_versions: runs of this study that another version of the engine has kept, which are
            not used.
    """

    out: Path
    done: int = 0
    skipped: int = 0
    of_other_versions: int = 0
    failed: int = 0
    failed_before: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it with the keys of `--json`."""
        return {"skipped": self.skipped, "out": str(self.out)}

    @property
    def notes(self) -> list[str]:
        """Sentences that a reader should know."""
        if not self.of_other_versions:
            return []
        return [
            f"{self.of_other_versions} run(s) in {self.out} are of another version of writeamp "
            f"than {__version__}, and were run again"
        ]


class Studied(Protocol):
    """A result of a study, which says what was kept of its runs."""

    @property
    def kept(self) -> StoreStats | None:
        """Statistics of the runs that were kept; None without a folder."""


S = TypeVar("S", bound=Studied)


class RunStore:
    """The runs of a study in progress, those in its folder among them; without one, none."""

    def __init__(self, dataset: Dataset | None = None, sink: Sink | None = None) -> None:
        """Begin with the runs that are in a folder."""
        self._dataset = dataset
        self._sink = sink
        self._skipped: dict[str, bool] = {}
        self._others: set[str] = set()
        # The rows of each set of columns that a codec has asked for, by their hash.
        self._rows: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
        self._other_versions: set[str] = set()

    def stats(self) -> StoreStats | None:
        """Return the statistics of the runs kept so far."""
        if self._dataset is None or self._sink is None:
            return None
        added = self._sink.added
        return StoreStats(
            self._dataset.folder,
            done=len(added),
            skipped=len(self._skipped),
            of_other_versions=len(self._others),
            failed=sum(added.values()),
            failed_before=sum(self._skipped.values()),
        )

    def finished(self) -> set[str]:
        """Return the hash of each run that was skipped, or is kept now."""
        added = {} if self._sink is None else self._sink.added
        return {*self._skipped, *(name for name, _ in added)}

    def gather(
        self,
        codec: RowCodec[J, T],
        runner: Runner,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
        again: Callable[[T], bool] | None = None,
        progress: Progress | None = None,
    ) -> list[T]:
        """Return `work(job)` for every job, in their order; those with a result are not done again.

        An error that is returned, and not raised, is a result that is not kept.

        Args:
            codec: what is to be known of the jobs.
            runner: who does them.
            work: as for `Runner.results`, like `jobs`, `lost` and `files`.
            jobs: what to do it with.
            lost: what a job comes to that ends every process which runs it; None for an error.
            files: paths that jobs read.
            again: whether a job with such a result is done again all the same.
            progress: called with how many are done, and how many there are.

        Raises:
            Interrupted: Ctrl-C; `finished` maps the index of each job that was done to its result.
            BaseException: the error of the first job that failed.
        """
        finished = self.skip(codec, jobs, again)
        todo = [at for at in range(len(jobs)) if at not in finished]

        def keep(index: int, result: T) -> None:
            at = todo[index]
            self._add(codec, jobs[at], result)
            finished[at] = result
            if progress:
                progress(len(finished), len(jobs))

        try:
            if progress and finished:
                progress(len(finished), len(jobs))
            gather(runner, work, [jobs[at] for at in todo], files=files, lost=lost, each=keep)
        except KeyboardInterrupt:
            raise Interrupted(finished) from None
        return [finished[at] for at in range(len(jobs))]

    def results(
        self,
        codec: RowCodec[J, T],
        runner: Runner,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[J, T]]:
        """Do all jobs, keep each result as it comes, and yield it with its job.

        Args and errors are as of `Runner.results`.
        """
        for at, result in runner.results(work, jobs, lost=lost, files=files):
            self._add(codec, jobs[at], result)
            yield jobs[at], result

    def skip(
        self, codec: RowCodec[J, T], jobs: Sequence[J], again: Callable[[T], bool] | None = None
    ) -> dict[int, T]:
        """Return the results that need no run, by the index of their job, and count them.

        Args:
            codec: what is to be known of the jobs.
            jobs: what may have results.
            again: whether a job with such a result is done again all the same.
        """
        found: dict[int, T] = {}
        if self._dataset is None:
            return found
        columns = tuple(codec.stored)
        if columns not in self._rows:
            self._rows[columns] = self._read(self._dataset, columns)
        for at, job in enumerate(jobs):
            name = codec.key(job)
            row = self._rows[columns].get(name)
            if row is not None:
                result = self._restored(codec, job, row)
                if again is None or not again(result):
                    found[at] = result
                    self._skipped[name] = row["error"] is not None
            elif name in self._other_versions:
                self._others.add(name)
        return found

    def _read(self, dataset: Dataset, stored: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the rows of this version by their hash, and note those of others."""
        try:
            rows = dataset.rows((*KEY, "error", *stored))
        except WriteampError as error:
            raise _FolderError(str(error)) from None
        self._other_versions = set(rows.filter(pl.col("version") != __version__)["hash"])
        own = rows.filter(version=__version__)
        return {row["hash"]: row for row in own.iter_rows(named=True)}

    def _restored(self, codec: RowCodec[J, T], job: J, row: Mapping[str, Any]) -> T:
        """Return the result that a row of this folder holds.

        Raises:
            _FolderError: nothing that a study has written.
        """
        assert self._dataset is not None
        try:
            return codec.restored(job, row)
        except (WriteampError, *_FAULTS) as error:
            raise _FolderError(
                f"{self._dataset.folder} has a run that no study has written ({error}); give "
                "another folder"
            ) from None

    def _add(self, codec: RowCodec[J, T], job: J, result: T) -> None:
        if self._sink is None or isinstance(result, BaseException):
            return
        try:
            self._sink.add({"version": __version__, **codec.columns(job, result)})
        except WriteampError as error:
            raise _FolderError(str(error)) from None


def keep_runs(
    keep: str | os.PathLike[str] | None,
    study: Callable[[RunStore], S],
    kind: type[Dataset] = RunsDataset,
) -> S:
    """Do a study whose runs are kept in a folder, and return what it finds.

    Args:
        keep: the folder, made if there is none; None to keep nothing. Other studies may share it,
            also at the same time.
        study: does the runs by `RunStore.gather`; what it finds, also in part, has a field `kept`.
        kind: of the folder; another than that of most studies has columns of its own.

    Raises:
        WriteampError: the folder holds something else, or cannot be written.
        Interrupted: Ctrl-C, with what the study found by then; what was finished is kept.
    """
    if keep is None:
        return study(RunStore())
    dataset = kind.make(Path(file_name(keep)))
    with Sink(dataset) as sink:
        store = RunStore(dataset, sink)
        try:
            return _with_stats(study(store), store)
        except _FolderError as error:
            raise WriteampError(str(error)) from None
        except Interrupted as stopped:
            if stopped.finished is not None:
                stopped.finished = _with_stats(stopped.finished, store)
            raise
        except WriteampError as failed:
            if failed.finished is not None:
                failed.finished = _with_stats(failed.finished, store)
            raise


def _with_stats(found: S, store: RunStore) -> S:
    return replace(found, kept=store.stats())  # type: ignore[type-var]
