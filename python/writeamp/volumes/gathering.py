"""Second half of a split: each volume whole, some in a file, and a table of their facts.

A file stands whole under its name or is not there, so that a process may be killed anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import polars as pl

from writeamp.files import output
from writeamp.files.tables import read_parquet
from writeamp.runners import Progress, stop_if_asked
from writeamp.traces.trace import OPERATIONS, Operation
from writeamp.volumes.facts import FACTS, Columns, facts_of
from writeamp.volumes.fleet import requests_file
from writeamp.volumes.spills import Spills

# Requests in a file, unless one volume has more.
_FILE_REQUESTS = 1 << 20
# What is read at least where one volume is asked for.
_GROUP_ROWS = 1 << 16
_COMPRESSION = 1

_OPERATIONS = pl.Series(OPERATIONS, dtype=Operation)


def gather_volumes(
    spills: Spills,
    work: Path,
    folder: Path,
    *,
    threads: int,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Write the requests of all volumes, and return the facts of each, by their numbers.

    Args:
        spills: the requests as they were read.
        work: folder of what is unfinished: the facts of the files that are there.
        folder: of the files.
        threads: how many write.
        progress: called with the requests written by now and in all.

    Raises:
        WriteampError: the disk is full, or cannot be written.
    """
    files = _files(spills)
    done, total = 0, sum(map(spills.requests_of, range(len(spills.names))))
    with ThreadPoolExecutor(threads) as pool:
        try:
            jobs = {
                pool.submit(_write_file, spills, codes, work, folder, number): codes
                for number, codes in enumerate(files)
            }
            for job in as_completed(jobs):
                stop_if_asked()
                job.result()
                done += sum(map(spills.requests_of, jobs[job]))
                if progress:
                    progress(done, total)
        finally:
            pool.shutdown(cancel_futures=True)
    return pl.concat([read_parquet(_facts(work, number)) for number in range(len(files))])


def _files(spills: Spills) -> list[Sequence[int]]:
    """Return the numbers of the volumes in each file."""
    files: list[Sequence[int]] = []
    codes: list[int] = []
    requests = 0
    for code in range(len(spills.names)):
        count = spills.requests_of(code)
        if codes and requests + count > _FILE_REQUESTS:
            files.append(codes)
            codes, requests = [], 0
        codes.append(code)
        requests += count
    return [*files, codes]


def _write_file(
    spills: Spills, codes: Sequence[int], work: Path, folder: Path, number: int
) -> None:
    """Write the requests of some volumes, and then their facts; nothing if these are there."""
    if _facts(work, number).exists():
        return
    found = spills.volumes(codes)
    rows: list[dict[str, Any]] = []
    first = 0
    for code in codes:
        end = first + spills.requests_of(code)
        facts = facts_of(spills.names[code], found.part(first, end))
        rows.append(facts | {"file": number, "first_row": first})
        first = end
    with output.replacing(requests_file(folder, number), "volumes") as file:
        _frame(found).write_parquet(
            file,
            compression="zstd",
            compression_level=_COMPRESSION,
            row_group_size=_GROUP_ROWS,
            statistics=False,
        )
    with output.replacing(_facts(work, number), "facts") as file:
        pl.DataFrame(rows, schema=FACTS).write_parquet(file)


def _frame(found: Columns) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "timestamp_ns": found.timestamp_ns,
            "op": _OPERATIONS.gather(found.op),
            "offset": found.offset,
            "length": found.length,
        }
    )


def _facts(work: Path, number: int) -> Path:
    return work / f"facts-{number:06}.parquet"
