"""Points of sweeps: plain values that any process can run, and their stored rows."""

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
from writeamp.studies.sweep.kinds.kind import PointResult, PointTask, to_plain
from writeamp.studies.sweep.kinds.registry import find_kind


@dataclass(frozen=True, kw_only=True)
class Point(PointTask):
    """Point of a sweep: one combination of settings to run. It can be pickled.

    Attributes:
        kind: name of the point's kind in `kinds.registry`, such as "simulate".
        version: version of the engine; the process that runs the point must have the same.
        choice: value of each axis, by name.
        replica: number of the replica, from 0; replicas with the same values of the axes have
            different seeds.
        place: position in the sweep, which orders results in tables; it is not part of the key.
    """

    kind: str
    version: str
    choice: Choice
    replica: int = 0
    place: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Key of the point's stored result: its hash, and the engine's version."""
        return self.hash, self.version

    @property
    def coordinates(self) -> Choice:
        """Values of the axes, and the replica, by name."""
        return {**self.choice, "replica": self.replica}


@dataclass(frozen=True)
class PointOutcome:
    """Outcome of a point: its result, or an error message.

    `elapsed_s` is the time of the run in seconds.
    """

    result: PointResult | None
    error: str | None
    elapsed_s: float = 0.0


def failure_at(coordinates: Mapping[str, Any], error: str) -> str:
    """Return a sentence on a failed point: its `Point.coordinates`, and its error."""
    where = ", ".join(f"{name} {value}" for name, value in coordinates.items())
    return f"{where} failed: {error}"


def run_point(point: Point) -> PointOutcome:
    """Run a point and return its outcome, which is a result or an error message.

    Raises:
        WriteampError: the point was made by another version of the engine, or a file that it
            reads has changed since.
        KeyboardInterrupt: Ctrl-C.
    """
    if point.version != __version__:
        raise WriteampError(
            f"the points were made by writeamp {point.version}, but this process has "
            f"{__version__}; use one version everywhere"
        )
    started = time.perf_counter()
    result, error = None, None
    _check_files(point)
    try:
        result = find_kind(point.kind).run(point.settings)
    except (KeyboardInterrupt, SystemExit, Stopped):
        raise
    except WriteampError as refused:
        error = str(refused)
    except MemoryError:
        error = "out of memory; use a smaller drive or trace"
    except BaseException as fault:  # a panic of the engine is not an Exception
        error = f"this is a fault of writeamp {__version__}: {type(fault).__name__}: {fault}"
    # If a file changed during the run, the result would be stored under the wrong key.
    _check_files(point)
    return PointOutcome(result, error, time.perf_counter() - started)


def _check_files(point: Point) -> None:
    for name, expected in point.files.items():
        if inputs.identity(name) != expected:
            raise WriteampError(f"{name} has changed since the sweep began; start the sweep again")


def lost_point(_: Point, why: str) -> PointOutcome:
    """Return the outcome of a point whose worker process died each time it was run."""
    return PointOutcome(None, why)


# Columns that differ between kinds are stored as JSON text, so that all parts have equal columns.
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
    """Stored results of sweeps in one folder."""

    contents = Contents("sweep", "points", SCHEMA, version=3, without_digests=2)


class PointCodec:
    """Storage of points; results are stored in columns of their rows."""

    def __init__(self, *, for_search: bool = False) -> None:
        """Set whether stored results are read back, which only a search needs."""
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
        result = outcome.result
        if result is None:
            return row
        return row | {
            "wa": result.wa,
            "wa_low": result.wa_low,
            "wa_high": result.wa_high,
            "steady": result.steady,
            **{f"{cause}_programs": float(pages) for cause, pages in result.causes.items()},
            "measures": _json(result.measures),
            "warnings": list(result.warnings),
        }

    def restored(self, _: Point, row: Mapping[str, Any]) -> PointOutcome:
        """Return the outcome in a row, with the columns that this codec reads."""
        result = None
        if row.get("measures") is not None:
            result = PointResult(row["wa"], measures=json.loads(row["measures"]))
        return PointOutcome(result, row["error"])


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
