"""Study: many runs by any runner; each result is stored, so that another call skips the run.

A study consists of jobs, a function that runs one job, and a `RowCodec`, which defines the key of a
job and how its result is stored. `RunStore.gather` runs the jobs without a stored result, and
returns all results like `runners.gather`. `keep_runs` opens the folder while a study runs.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import polars as pl

from writeamp._engine import __version__
from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.fields.domains import file_name
from writeamp.results.numbers import plural
from writeamp.runners import Progress, Runner, gather
from writeamp.runners.runner import Lost
from writeamp.studies.dataset import KEY, Contents, Dataset
from writeamp.studies.shards import Keep, Shard, ShardCounts, ShardDone, folders_of
from writeamp.studies.sink import Sink

J = TypeVar("J")
T = TypeVar("T")
_JobT_contra = TypeVar("_JobT_contra", contravariant=True)

# Errors raised when a stored document is read that is not a valid result.
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
    """Stored runs of studies in one folder."""

    contents = Contents("study", "runs", RUN_SCHEMA, version=1)


class _FolderError(Exception):
    """Error of reading or writing the folder; unlike the error of a run, it ends the study."""


class RowCodec(Protocol[_JobT_contra, T]):
    """Rules for storing the jobs and results of a study as rows of a dataset."""

    @property
    def stored(self) -> Sequence[str]:
        """Columns that `restored` reads, in addition to those of the key and `error`."""

    def key(self, job: _JobT_contra) -> str:
        """Return the hash of all inputs that determine the job's result."""

    def columns(self, job: _JobT_contra, result: T) -> Mapping[str, Any]:
        """Return the row of a result: its hash, its `error` or null, and other columns."""

    def restored(self, job: _JobT_contra, row: Mapping[str, Any]) -> T:
        """Return the result that is stored in a row.

        Raises:
            WriteampError: the row is invalid; a TypeError, ValueError or KeyError also means this.
        """


@dataclass(frozen=True)
class RunFacts:
    """Columns of a stored run in addition to its result, for people who open the file.

    `error` is the reason if the run has no result; a later successful run with the same key
    replaces this row. `more` has further columns, which only this study's kind of dataset has.
    """

    name: str
    seed: int
    wa: float | None
    error: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


class DocumentCodec(ABC, Generic[J, T]):
    """Codec of a `RunsDataset`, whose rows hold a job's inputs and result as JSON."""

    verb: ClassVar[str]
    stored: Sequence[str] = ("result",)

    @abstractmethod
    def meaning(self, job: J) -> Mapping[str, Any]:
        """Return all inputs that determine the job's result, as JSON types."""

    @abstractmethod
    def facts(self, job: J, result: T) -> RunFacts:
        """Return the descriptive columns of a stored run, for people who open the file."""

    @abstractmethod
    def document(self, job: J, result: T) -> Any:
        """Return the result as JSON types."""

    @abstractmethod
    def result(self, job: J, document: Any) -> T:
        """Return the result stored in a document.

        Raises:
            WriteampError: the document is not a result of this study.
        """

    def key(self, job: J) -> str:
        """Return the digest of all inputs that determine the job's result."""
        return hashlib.sha256(self._meaning_text(job).encode()).hexdigest()

    def columns(self, job: J, result: T) -> Mapping[str, Any]:
        """Return the row of a result, including its document."""
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
        """Return the result stored in a row's document."""
        result = self.result(job, json.loads(row["result"]))
        self.facts(job, result)  # raises an error if the result is incomplete
        return result

    def _meaning_text(self, job: J) -> str:
        meaning = {"verb": self.verb, **self.meaning(job)}
        return json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class StoreStats:
    """Counts of a study's stored runs: runs of this call, and runs stored by earlier calls.

    Attributes:
        out: the folder.
        done: number of runs stored by this call; `failed` of them ended with an error.
        skipped: number of runs stored by earlier calls and not repeated; `failed_before` of them
            have an error instead of a result.
        of_other_versions: number of stored runs by other versions of the engine, which are not
            used.
    """

    out: Path
    done: int = 0
    skipped: int = 0
    of_other_versions: int = 0
    failed: int = 0
    failed_before: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts with the keys of `--json`."""
        return {"skipped": self.skipped, "out": str(self.out)}

    @property
    def notes(self) -> list[str]:
        """Note on stored runs by other versions of the engine, if there are any."""
        if not self.of_other_versions:
            return []
        return [
            f"run again: {plural(self.of_other_versions, 'run')} in {self.out} by another version "
            f"of writeamp than {__version__}"
        ]


class Studied(Protocol):
    """Result of a study, with counts of its stored runs."""

    @property
    def store_stats(self) -> StoreStats | None:
        """Counts of the stored runs, or None without a folder."""


S = TypeVar("S", bound=Studied)


class RunStore:
    """Results of a running study, including results stored earlier in its folder, if any."""

    def __init__(
        self,
        dataset: Dataset | None = None,
        sink: Sink | None = None,
        shard: Shard | None = None,
    ) -> None:
        """Read the runs that are stored in a folder; with a `shard`, run only its jobs."""
        self._dataset = dataset
        self._sink = sink
        self.shard = shard
        # Numbers of jobs of the shard and of the study that `gather` was given, and of the shard's
        # jobs that have run without failure, or failed in earlier calls.
        self._in_shard = self._in_study = self._done = self._failed_before = 0
        self._failures: list[str] = []
        self._skipped: dict[str, bool] = {}
        self._others: set[str] = set()
        # For each set of columns that a codec has requested: the stored rows by their hash.
        self._rows: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
        self._other_versions: set[str] = set()

    def stats(self) -> StoreStats | None:
        """Return the counts of stored runs at this moment."""
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

    def shard_counts(self, *, is_interrupted: bool = False) -> ShardCounts:
        """Return the outcome of a shard at this moment."""
        stats = self.stats()
        assert self.shard is not None
        assert stats is not None
        return ShardCounts(
            self.shard,
            self._in_shard,
            self._in_study,
            done=stats.done if is_interrupted else self._done,
            skipped=stats.skipped,
            failed=len(self._failures),
            failed_before=self._failed_before,
            out=str(stats.out),
            failures=tuple(self._failures),
            is_interrupted=is_interrupted,
        )

    def finished(self) -> set[str]:
        """Return the hashes of all runs that this study skipped or added, even failed ones."""
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
        failure: Callable[[J, T], str | None] | None = None,
        progress: Progress | None = None,
    ) -> list[T]:
        """Return `work(job)` for every job in order; stored results are not computed again.

        If `work` returns an error instead of raising it, the error is returned as a result, but is
        not stored. In a shard, only its jobs are run, and `ShardDone` is raised instead of a
        return, since the results of other jobs are missing.

        Args:
            codec: defines the keys of jobs, and how results are stored.
            runner: runner of the jobs.
            work: `work`, `jobs`, `lost` and `files` are as for `Runner.results`.
            jobs: see `work`.
            lost: makes the result of a job whose worker process died each time it was run; None
                raises an error instead.
            files: paths that jobs read.
            again: returns whether a job is repeated although this result is stored.
            failure: returns why a shard's job failed, or None if it did not; by default, a returned
                error other than a refusal is a failure.
            progress: called with the number of jobs done and the total, at first and after each.

        Raises:
            Interrupted: Ctrl-C; `finished` maps the index of each finished job to its result, or is
                empty in a shard.
            ShardDone: the jobs of the shard have run.
            BaseException: the error of the first job that failed.
        """
        if self.shard is not None:
            of_study, jobs = jobs, self.shard.share(jobs, self._in_study)
            self._in_study += len(of_study)
            self._in_shard += len(jobs)
        finished = self.skip(codec, jobs, again)
        pending = [number for number in range(len(jobs)) if number not in finished]

        def keep(index: int, result: T) -> None:
            number = pending[index]
            self._add(codec, jobs[number], result)
            finished[number] = result
            if progress:
                progress(len(finished), len(jobs))

        try:
            if progress:
                progress(len(finished), len(jobs))
            gather(
                runner,
                work,
                [jobs[number] for number in pending],
                files=files,
                lost=lost,
                each=keep,
            )
        except KeyboardInterrupt:
            raise Interrupted({} if self.shard else finished) from None
        if self.shard is not None:
            why = failure or _error
            reasons = {at: why(jobs[at], result) for at, result in finished.items()}
            new = [reasons.pop(at) for at in pending]
            self._done += new.count(None)
            self._failures += filter(None, new)
            self._failed_before += sum(reason is not None for reason in reasons.values())
            raise ShardDone(self.shard_counts())
        return [finished[number] for number in range(len(jobs))]

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
        """Run all jobs, store each result when it is finished, and yield it with its job.

        Arguments and errors are those of `Runner.results`.
        """
        for index, result in runner.results(work, jobs, lost=lost, files=files):
            self._add(codec, jobs[index], result)
            yield jobs[index], result

    def skip(
        self, codec: RowCodec[J, T], jobs: Sequence[J], again: Callable[[T], bool] | None = None
    ) -> dict[int, T]:
        """Return and count the stored results, by the index of their job in `jobs`.

        Args:
            codec: defines the keys of jobs, and how results are stored.
            jobs: jobs that may have stored results.
            again: returns whether a job is repeated although this result is stored.
        """
        results: dict[int, T] = {}
        if self._dataset is None:
            return results
        columns = tuple(codec.stored)
        if columns not in self._rows:
            self._rows[columns] = self._read(self._dataset, columns)
        for index, job in enumerate(jobs):
            name = codec.key(job)
            row = self._rows[columns].get(name)
            if row is not None:
                result = self._restored(codec, job, row)
                if again is None or not again(result):
                    results[index] = result
                    self._skipped[name] = row["error"] is not None
            elif name in self._other_versions:
                self._others.add(name)
        return results

    def _read(self, dataset: Dataset, stored: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return this engine version's rows by hash; remember the hashes of other versions."""
        try:
            rows = dataset.rows((*KEY, "error", *stored))
        except WriteampError as error:
            raise _FolderError(str(error)) from None
        self._other_versions = set(rows.filter(pl.col("version") != __version__)["hash"])
        own = rows.filter(version=__version__)
        return {row["hash"]: row for row in own.iter_rows(named=True)}

    def _restored(self, codec: RowCodec[J, T], job: J, row: Mapping[str, Any]) -> T:
        """Return the result that is stored in a row of this folder.

        Raises:
            _FolderError: the row is not a study's result.
        """
        assert self._dataset is not None
        try:
            return codec.restored(job, row)
        except (WriteampError, *_FAULTS) as error:
            raise _FolderError(
                f"{self._dataset.folder} has a run that no study wrote ({error}); give another "
                "folder"
            ) from None

    def _add(self, codec: RowCodec[J, T], job: J, result: T) -> None:
        if self._sink is None or isinstance(result, BaseException):
            return
        try:
            self._sink.add({"version": __version__, **codec.columns(job, result)})
        except WriteampError as error:
            raise _FolderError(str(error)) from None


def _error(_job: object, result: object) -> str | None:
    is_failure = isinstance(result, WriteampError) and not isinstance(result, RefusedError)
    return str(result) if is_failure else None


def keep_runs(
    keep: Keep | None,
    study: Callable[[RunStore], S],
    kind: type[Dataset] = RunsDataset,
) -> S:
    """Run a study whose runs are stored in a folder, and return its result.

    Args:
        keep: folder, created if it does not exist; None stores no runs. Other studies may use the
            same folder, also at the same time. Of several folders, the runs of the others are
            copied to the first. `Folders` may have a shard.
        study: runs the jobs with `RunStore.gather`; its result, even a partial one, has a field
            `store_stats`.
        kind: dataset class of the folder; some studies have a class with further columns.

    Raises:
        WriteampError: the folder holds other files, or cannot be written.
        Interrupted: Ctrl-C; it carries the study's partial result, and finished runs are stored.
        ShardDone: the study is one of several shards; it carries the counts of its runs.
    """
    if keep is None:
        return study(RunStore())
    folders = folders_of(keep)
    others = [kind.open(other) for other in folders.others]
    dataset = kind.make(Path(file_name(folders.first)))
    for other in others:
        dataset.take(other)
    with Sink(dataset) as sink:
        store = RunStore(dataset, sink, folders.shard)
        try:
            return _with_stats(study(store), store)
        except _FolderError as error:
            raise WriteampError(str(error)) from None
        except Interrupted as stopped:
            if folders.shard is not None:
                raise ShardDone(store.shard_counts(is_interrupted=True)) from None
            if stopped.finished is not None:
                stopped.finished = _with_stats(stopped.finished, store)
            raise
        except WriteampError as failed:
            if failed.finished is not None:
                failed.finished = _with_stats(failed.finished, store)
            raise


def _with_stats(result: S, store: RunStore) -> S:
    return replace(result, store_stats=store.stats())  # type: ignore[type-var]
