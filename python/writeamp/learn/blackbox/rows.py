"""Rows of measurement tables: a column for each characteristic and each result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import polars as pl

from writeamp.learn.blackbox.features import DriveUse, of_workload
from writeamp.learn.blackbox.space import CHARACTERISTICS, SECTOR_BYTES, WorkloadPoint
from writeamp.learn.blackbox.targets.measured import Measured
from writeamp.learn.blackbox.targets.target import SIMULATED, Outcome, Target

_WHOLE = ("queue_depth", "requests")
_TRUTHS = ("steady",)
# Characteristics that say how the workload meets the drive, beside recent writes, a measure.
_ON_DRIVE = ("working_set_bytes", "fill", "skew")

Row = dict[str, Any]


def _type_of(name: str) -> Any:
    if name in _TRUTHS:
        return pl.Boolean
    return pl.Int64 if name in _WHOLE or name.endswith("_bytes") else pl.Float64


MEASURES = tuple(one.name for one in fields(Measured))

SCHEMA: Mapping[str, Any] = {
    "target": pl.String,
    "target_kind": pl.String,
    "space_bytes": pl.Int64,
    "design": pl.String,
    "workload": pl.String,
    **{name: _type_of(name) for name in CHARACTERISTICS},
    **{name: _type_of(name) for name in _ON_DRIVE},
    "burst_s": pl.Float64,
    **{name: _type_of(name) for name in MEASURES},
    "seed": pl.Int64,
    "elapsed_s": pl.Float64,
    "error": pl.String,
    "target_hash": pl.String,
    "hash": pl.String,
}


@dataclass(frozen=True)
class Account:
    """Makes the rows of one target, and the hashes that identify them.

    The settings of the measurement are in the hash of each row.
    """

    target: Target

    @property
    def target_hash(self) -> str:
        """The hash of all that decides the measurements of the target beside the point."""
        return _hash({"target": self.target.kind, **self.target.meaning})

    def hash_of(self, point: WorkloadPoint) -> str:
        """Return the hash that identifies the result of a point."""
        return _hash({"of": self.target_hash, **point.to_dict()})

    def row(self, outcome: Outcome, design: str) -> Row:
        """Return an outcome as a row; what was not found is null."""
        found = {} if outcome.measured is None else asdict(outcome.measured)
        return dict.fromkeys(SCHEMA) | {
            "target": self.target.name,
            "target_kind": self.target.kind,
            "space_bytes": self.target.space_bytes,
            "design": design,
            "workload": outcome.point.spec,
            **outcome.point.to_dict(),
            **self._on_drive(outcome.point),
            "burst_s": outcome.point.burst_s,
            **found,
            "seed": self.target.seed,
            "elapsed_s": outcome.elapsed_s,
            "error": outcome.error,
            "target_hash": self.target_hash,
            "hash": self.hash_of(outcome.point),
        }

    def _on_drive(self, point: WorkloadPoint) -> Row:
        """Return how a point meets the drive; nobody knows how full a real one is."""
        space_bytes = max(SECTOR_BYTES, round(point.fill * self.target.space_bytes))
        found = asdict(of_workload(point.spec, use=DriveUse(space_bytes)))
        fill = point.fill if self.target.kind == SIMULATED else None
        skew = found["skew"] if point.has_writes else 0.0
        return {"working_set_bytes": space_bytes, "fill": fill, "skew": skew}


def point_of(row: Row) -> WorkloadPoint:
    """Return the point that a row is of; where recent writes took too long, with those it had."""
    return WorkloadPoint(
        **{name: row[name] for name in CHARACTERISTICS},
        fill=1.0 if row["fill"] is None else row["fill"],
        recent_write_bytes=row["recent_write_bytes"] or 0,
        burst_s=row["burst_s"],
    )


def table_of(rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows as a table; of several with one hash, the last success, or else the last."""
    best: dict[str, Row] = {}
    for row in rows:
        known = best.get(row["hash"])
        if known is None or row["error"] is None or known["error"] is not None:
            best[row["hash"]] = row
    return pl.DataFrame(list(best.values()), schema=SCHEMA, orient="row")


def _hash(meaning: Mapping[str, Any]) -> str:
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
