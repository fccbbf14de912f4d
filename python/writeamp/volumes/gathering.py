"""Second step of a split: requests sorted by volume, and a table of the volumes' facts.

Files are written under another name and renamed at the end, so that an interrupted process leaves
no incomplete file.
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

# Largest number of requests in a file, unless a single volume has more.
_FILE_REQUESTS = 1 << 20
# Rows of a Parquet row group, which is the smallest unit to read for a volume.
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
    """Write the requests of all volumes, and return their facts in the order of their numbers.

    Args:
        spills: chunks of requests that the first step wrote.
        work: folder of temporary files, with the facts of the volumes in finished files.
        folder: folder for the finished files.
        threads: number of writing threads.
        progress: called with the number of requests written and the total.

    Raises:
        WriteampError: the disk is full or cannot be written.
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
    """Return the numbers of the volumes to store in each file."""
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
    """Write the requests of some volumes, then their facts; skip them if the facts exist."""
    if _facts(work, number).exists():
        return
    columns = spills.volumes(codes)
    rows: list[dict[str, Any]] = []
    first = 0
    for code in codes:
        end = first + spills.requests_of(code)
        facts = facts_of(spills.names[code], columns.slice(first, end))
        rows.append(facts | {"file": number, "first_row": first})
        first = end
    with output.replacing(requests_file(folder, number), "volumes") as file:
        _frame(columns).write_parquet(
            file,
            compression="zstd",
            compression_level=_COMPRESSION,
            row_group_size=_GROUP_ROWS,
            statistics=False,
        )
    with output.replacing(_facts(work, number), "facts") as file:
        pl.DataFrame(rows, schema=FACTS).write_parquet(file)


def _frame(columns: Columns) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "timestamp_ns": columns.timestamp_ns,
            "op": _OPERATIONS.gather(columns.op),
            "offset": columns.offset,
            "length": columns.length,
        }
    )


def _facts(work: Path, number: int) -> Path:
    return work / f"facts-{number:06}.parquet"
