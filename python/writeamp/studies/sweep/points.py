"""Points of sweeps: plain values that travel to any process, and their rows on disk."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from writeamp._engine import TIMED_CAUSES, __version__
from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.runners import Stopped
from writeamp.studies.dataset import Contents, Dataset
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import PointFound, PointTask, to_plain
from writeamp.studies.sweep.kinds.registry import find_kind


@dataclass(frozen=True, kw_only=True)
class Point(PointTask):
    """Task of a sweep; it can be pickled, and holds nothing but JSON types.

    Attributes:
        kind: of `kinds.registry`.
        version: the engine's, which must be that of whoever runs it.
        choice: the values of the axes.
        replica: from 0; the runs of one choice differ by their seed.
        place: in the order of its sweep, in which results are shown; it is no part of the key.
    """

    kind: str
    version: str
    choice: Choice
    replica: int = 0
    place: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Key of its result: hash and version."""
        return self.hash, self.version


@dataclass(frozen=True)
class PointOutcome:
    """Outcome of a point: what was found, or the sentence that says why nothing was.

    `elapsed_s` is the time that it took where it ran.
    """

    found: PointFound | None
    error: str | None
    elapsed_s: float = 0.0


def run_point(point: Point) -> PointOutcome:
    """Run a point and return its outcome; an error is an outcome, too.

    Raises:
        WriteampError: the point was made by another version of the engine, or a file that it
            reads is not what it was then.
        KeyboardInterrupt: Ctrl-C.
    """
    if point.version != __version__:
        raise WriteampError(
            f"the points are of writeamp {point.version}, and here is {__version__}; use one "
            "version everywhere"
        )
    started = time.perf_counter()
    found, error = None, None
    _check_files(point)
    try:
        found = find_kind(point.kind).run(point.settings)
    except (KeyboardInterrupt, SystemExit, Stopped):
        raise
    except WriteampError as refused:
        error = str(refused)
    except MemoryError:
        error = "out of memory; use a smaller drive or trace"
    except BaseException as fault:  # a panic of the engine is no Exception
        error = f"this is a fault of writeamp {__version__}: {type(fault).__name__}: {fault}"
    # Again after the run: else the result of a changed file would have the key of the old one.
    _check_files(point)
    return PointOutcome(found, error, time.perf_counter() - started)


def _check_files(point: Point) -> None:
    for name, expected in point.files.items():
        if inputs.identity(name) != expected:
            raise WriteampError(f"{name} has changed since the sweep began; begin it again")


def lost_point(_: Point, why: str) -> PointOutcome:
    """Return the outcome of a point that ended every process which ran it."""
    return PointOutcome(None, why)


# What varies from kind to kind is JSON text, so that all parts of a dataset have these columns.
SCHEMA: Mapping[str, Any] = {
    "hash": pl.String,
    "version": pl.String,
    "study": pl.String,
    "kind": pl.String,
    "place": pl.Int64,
    "axes": pl.String,
    "replica": pl.Int64,
    "seed": pl.Int64,
    "settings": pl.String,
    "error": pl.String,
    "elapsed_s": pl.Float64,
    "wa": pl.Float64,
    "wa_low": pl.Float64,
    "wa_high": pl.Float64,
    "steady": pl.Boolean,
    **{f"{cause}_programs": pl.Float64 for cause in TIMED_CAUSES},
    "measures": pl.String,
    "warnings": pl.List(pl.String),
}


class SweepDataset(Dataset):
    """The results of sweeps in one folder."""

    contents = Contents("sweep", "points", SCHEMA, version=3, without_digests=2)


class PointCodec:
    """Codec of points, the results of which are columns of their row."""

    def __init__(self, *, for_search: bool = False) -> None:
        """Read what the points in a folder found only for a search, which chooses by it."""
        self.stored = ("wa", "measures") if for_search else ()

    def key(self, point: Point) -> str:
        """Return the hash of the point."""
        return point.hash

    def columns(self, point: Point, outcome: PointOutcome) -> dict[str, Any]:
        """Return the row of an outcome."""
        row = {
            "hash": point.hash,
            "version": point.version,
            "study": point.study,
            "kind": point.kind,
            "place": point.place,
            "axes": _json(to_plain(point.choice)),
            "replica": point.replica,
            "seed": point.seed,
            "settings": _json(point.settings),
            "error": outcome.error,
            "elapsed_s": outcome.elapsed_s,
        }
        found = outcome.found
        if found is None:
            return row
        return row | {
            "wa": found.wa,
            "wa_low": found.wa_low,
            "wa_high": found.wa_high,
            "steady": found.steady,
            **{f"{cause}_programs": float(pages) for cause, pages in found.causes.items()},
            "measures": _json(found.measures),
            "warnings": list(found.warnings),
        }

    def restored(self, _: Point, row: Mapping[str, Any]) -> PointOutcome:
        """Return the outcome in a row, as far as this codec reads it."""
        found = None
        if row.get("measures") is not None:
            found = PointFound(row["wa"], measures=json.loads(row["measures"]))
        return PointOutcome(found, row["error"])


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
