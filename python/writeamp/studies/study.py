"""Study: many runs by any runner, each kept in a folder, so that a second call skips it.

A study gives jobs, the work that does one, and a `RunCodec` that says what a job means and how its
result is written. `gather` does the jobs that have no result yet, as `runners.gather` does all of
them; `keep_runs` opens the folder for as long as a study lasts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

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


class _FolderError(Exception):
    """Folder that cannot be read or written; no study takes it for a run that cannot be."""


class RunCodec(Protocol[_JobT_contra, T]):
    """Rules for keeping a study's jobs: the meaning, facts and document of each."""

    verb: str

    def meaning(self, job: _JobT_contra) -> Mapping[str, Any]:
        """Return everything that decides the result, as JSON types."""

    def facts(self, job: _JobT_contra, result: T) -> RunFacts:
        """Return the columns of a kept run for people who open the file."""

    def document(self, job: _JobT_contra, result: T) -> Any:
        """Return the result as JSON types."""

    def result(self, job: _JobT_contra, document: Any) -> T:
        """Return the result that a document holds.

        Raises:
            WriteampError: it holds something else.
        """


@dataclass(frozen=True)
class StoreStats:
    """Runs of a study that were kept: where, how many of them now, how many before.

    `of_other_versions` counts runs of this study that another version of the engine has kept, which
    are not used.
    """

    out: Path
    done: int = 0
    skipped: int = 0
    of_other_versions: int = 0

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


@dataclass(frozen=True)
class _Row:
    """A run that is to be kept."""

    key: tuple[str, str]
    columns: Mapping[str, Any]
    error: str | None


class RunStore:
    """The runs of a study in progress, those in its folder among them; without one, none."""

    def __init__(self, dataset: RunsDataset | None = None, sink: Sink[_Row] | None = None) -> None:
        """Begin with the runs that are in a folder."""
        self._dataset = dataset
        self._sink = sink
        self._skipped: set[str] = set()
        self._done: set[str] = set()
        self._others: set[str] = set()
        self._result_of: dict[str, str] = {}
        self._versions_of: dict[str, list[str]] = {}
        if dataset is not None:
            for one, version, result in dataset.rows().select(*KEY, "result").iter_rows():
                self._versions_of.setdefault(one, []).append(version)
                if version == __version__:
                    self._result_of[one] = result

    def account(self) -> StoreStats | None:
        """Return the account of the runs kept so far."""
        if self._dataset is None:
            return None
        return StoreStats(
            self._dataset.folder, len(self._done), len(self._skipped), len(self._others)
        )

    def gather(
        self,
        keeping: RunCodec[J, T],
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
            keeping: what is to be known of the jobs.
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
        hashes = [self._hash_of(keeping, job) for job in jobs]
        found = self._known(keeping, jobs, hashes).items()
        finished = {at: one for at, one in found if again is None or not again(one)}
        self._skipped |= {name for at in finished if (name := hashes[at]) is not None}
        todo = [at for at in range(len(jobs)) if at not in finished]

        def keep(index: int, result: T) -> None:
            at = todo[index]
            self._add(keeping, jobs[at], hashes[at], result)
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

    def known(self, keeping: RunCodec[J, T], jobs: Sequence[J]) -> dict[int, T]:
        """Return the results that are in the folder, by the index of their job."""
        return self._known(keeping, jobs, [self._hash_of(keeping, job) for job in jobs])

    def _known(
        self, keeping: RunCodec[J, T], jobs: Sequence[J], hashes: Sequence[str | None]
    ) -> dict[int, T]:
        return {
            at: self._found(keeping, job, self._result_of[name])
            for at, (job, name) in enumerate(zip(jobs, hashes, strict=True))
            if name in self._result_of
        }

    def _found(self, keeping: RunCodec[J, T], job: J, document: str) -> T:
        """Return the result that a document of this folder holds.

        Raises:
            _FolderError: nothing that a study has written.
        """
        assert self._dataset is not None
        try:
            found = keeping.result(job, json.loads(document))
            keeping.facts(job, found)  # which takes what it holds to be whole
        except (WriteampError, *_FAULTS) as error:
            raise _FolderError(
                f"{self._dataset.folder} has a run that no study has written ({error}); give "
                "another folder"
            ) from None
        return found

    def _hash_of(self, keeping: RunCodec[J, T], job: J) -> str | None:
        """Return the digest of what a job means; None where nothing is kept."""
        if self._dataset is None:
            return None
        name = hashlib.sha256(_json(_meant(keeping, job)).encode()).hexdigest()
        if name not in self._result_of and name in self._versions_of:
            self._others.add(name)
        return name

    def _add(self, keeping: RunCodec[J, T], job: J, name: str | None, result: T) -> None:
        if self._sink is None or name is None or isinstance(result, BaseException):
            return
        facts, document = keeping.facts(job, result), keeping.document(job, result)
        columns = {
            "hash": name,
            "version": __version__,
            "verb": keeping.verb,
            "name": facts.name,
            "seed": facts.seed,
            "error": facts.error,
            "wa": facts.wa,
            "meaning": _json(_meant(keeping, job)),
            "result": json.dumps(document, separators=(",", ":"), allow_nan=False),
            **facts.more,
        }
        try:
            self._sink.add(_Row((name, __version__), columns, facts.error))
        except WriteampError as error:
            raise _FolderError(str(error)) from None
        self._done.add(name)


def keep_runs(
    out: str | os.PathLike[str] | None,
    study: Callable[[RunStore], S],
    kind: type[RunsDataset] = RunsDataset,
) -> S:
    """Do a study whose runs are kept in a folder, and return what it finds.

    Args:
        out: the folder, made if there is none; None to keep nothing. Other studies may share it,
            also at the same time.
        study: does the runs by `RunStore.gather`; what it finds, also in part, has a field `kept`.
        kind: of the folder; another than that of most studies has columns of its own.

    Raises:
        WriteampError: the folder holds something else, or cannot be written.
        Interrupted: Ctrl-C, with what the study found by then; what was finished is kept.
    """
    if out is None:
        return study(RunStore())
    dataset = kind.make(Path(file_name(out)))
    with Sink(dataset, partial(_table_of, kind.contents.schema)) as sink:
        kept = RunStore(dataset, sink)
        try:
            return _with_account(study(kept), kept)
        except _FolderError as error:
            raise WriteampError(str(error)) from None
        except Interrupted as stopped:
            if stopped.finished is not None:
                stopped.finished = _with_account(stopped.finished, kept)
            raise
        except WriteampError as failed:
            if failed.finished is not None:
                failed.finished = _with_account(failed.finished, kept)
            raise


def _with_account(found: S, kept: RunStore) -> S:
    return replace(found, kept=kept.account())  # type: ignore[type-var]


def _meant(keeping: RunCodec[J, T], job: J) -> dict[str, Any]:
    return {"verb": keeping.verb, **keeping.meaning(job)}


def _table_of(schema: Mapping[str, Any], rows: Sequence[_Row]) -> pl.DataFrame:
    return pl.DataFrame([one.columns for one in rows], schema=schema)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
