"""Characteristics of a workload, such as its queue depth; feature sets follow from them.

Each source (fio job, workload, trace window) fills the same columns, so a model trained on one
source can predict the others.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import polars as pl

from writeamp.fields.domains import SHARE, Number, Whole

_RATIO = Number("be from 0 to 1", lambda value: 0 <= value <= 1)
_DEPTH = Number("be at least 1", lambda value: value >= 1)
_BYTES = Number("be 0 or more", lambda value: value >= 0)


@dataclass(frozen=True)
class DriveUse:
    """State of the drive in which a workload runs; the workload alone does not determine it.

    Attributes:
        space_bytes: the part of the drive's address space that the workload uses.
        fill: share of the drive's capacity that holds data, above 0 and at most 1.
        recent_write_bytes: bytes that the host wrote in the minute before.

    Raises:
        WriteampError: a value outside its domain.
    """

    space_bytes: int
    fill: float = 1.0
    recent_write_bytes: float = 0.0

    def __post_init__(self) -> None:
        """Check every value."""
        Whole(512).check("space_bytes", self.space_bytes)
        SHARE.check("fill", self.fill)
        _BYTES.check("recent_write_bytes", self.recent_write_bytes)


@dataclass(frozen=True)
class Characteristics:
    """Characteristics of a workload: paper 2's equation 4, and four for later drives.

    `frame` sets values without meaning to 0: values of a direction (reads or writes) without
    requests, and the stride of a direction with only random requests. So equal workloads have equal
    rows.

    Attributes:
        write_ratio: share of the writes among reads and writes (paper 2: wr_ratio).
        queue_depth: outstanding requests, the newest included (q_dep).
        write_size_bytes, read_size_bytes: mean size of a request (wr_size, rd_size).
        write_randomness, read_randomness: share of the requests that do not continue from the
            previous request of the same direction (wr_rand, rd_rand).
        write_stride_bytes, read_stride_bytes: bytes from the end of a request to the start of the
            next that continues from it; 0 is sequential (wr_stride, rd_stride).
        working_set_bytes: distinct bytes that the workload accesses.
        fill: share of the drive's capacity that holds data.
        recent_write_bytes: bytes that the host wrote in the minute before.
        skew: share of the writes that go to the most written fifth of the written pages; 0.2 if
            all pages are written equally often, 0 without writes.

    Raises:
        WriteampError: a value outside its domain.
    """

    write_ratio: float
    queue_depth: float
    write_size_bytes: float
    read_size_bytes: float
    write_randomness: float
    read_randomness: float
    write_stride_bytes: float
    read_stride_bytes: float
    working_set_bytes: float | None = None
    fill: float | None = None
    recent_write_bytes: float | None = None
    skew: float | None = None

    def __post_init__(self) -> None:
        """Check every value that is not None."""
        for name in CHARACTERISTICS:
            value = getattr(self, name)
            if value is not None:
                domain_of(name).check(name, value)

    def frame(self) -> pl.DataFrame:
        """Return one row with a column for each characteristic; null if unknown."""
        row: dict[str, Any] = dataclasses.asdict(self)
        return settled(pl.DataFrame([row], schema=dict.fromkeys(CHARACTERISTICS, pl.Float64())))


CHARACTERISTICS = tuple(column.name for column in dataclasses.fields(Characteristics))


def domain_of(name: str) -> Number:
    """Return the domain of a characteristic."""
    if name == "queue_depth":
        return _DEPTH
    return _BYTES if name.endswith("_bytes") else _RATIO


def settled(characteristics: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with 0 for values without meaning, so that equal workloads are equal rows.

    A direction without requests has no size, randomness or stride. A direction with only random
    requests has no stride. Missing columns stay missing, and no value is changed because of them.
    """
    present = set(characteristics.columns)
    writes, reads = pl.col("write_ratio") > 0, pl.col("write_ratio") < 1
    matters = {"skew": writes}
    for direction, happens in (("write", writes), ("read", reads)):
        matters[f"{direction}_stride_bytes"] = happens & (pl.col(f"{direction}_randomness") < 1)
        matters[f"{direction}_randomness"] = happens
        matters[f"{direction}_size_bytes"] = happens
    return characteristics.with_columns(
        pl.when(condition).then(pl.col(name)).otherwise(0.0).alias(name)
        for name, condition in matters.items()
        if present.issuperset({name, *condition.meta.root_names()})
    )
