"""Replacement of Cassandra under YCSB in the sizes of Park et al. 2017, Table 5: a fio job.

`cassandra.fio` writes a commit log and sorted tables as a log-structured store does. Sizes of
tables follow from the number of records, and written bytes from the number of operations.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from writeamp_papers.park2017.programs import run

_JOB = Path(__file__).with_suffix(".fio")
_PROGRAM = "fio"
# A record of YCSB has ten fields of 100 bytes; half of the operations update one (workload A).
_RECORD_BYTES = 1024
_UPDATES = 0.5
# In multiples of the job's smallest table: the size of all files together, and the bytes that a
# loop writes to the log and to tables of three sizes. The largest tables are written once in
# sixteen loops, so the number of loops is a multiple of sixteen.
_FILES_UNITS, _LOOP_UNITS, _LARGEST = 88, 4, 16
_BLOCK_BYTES = 4096


def missing() -> list[str]:
    """Return the required programs that are not installed."""
    return [] if shutil.which(_PROGRAM) else [_PROGRAM]


@dataclass(frozen=True)
class Cassandra:
    """Tables that are merged into larger ones, and their log."""

    unit_bytes: int
    loops: int

    @property
    def later_bytes(self) -> int:
        """Bytes that the files have while the load runs; before the run, there are no files."""
        return _FILES_UNITS * self.unit_bytes

    @contextmanager
    def prepared(self, folder: Path) -> Iterator[Callable[[], None]]:
        """Yield a function that runs the load in a folder."""
        yield partial(
            run,
            (_PROGRAM, "--thread", "--output=/dev/null", str(_JOB)),
            variables={
                "mountpoint": str(folder),
                **{f"UNIT{n}": str(int(n or 1) * self.unit_bytes) for n in ("", "4", "16")},
                **{f"LOOPS{n}": str(self.loops // int(n or 1)) for n in ("", "4", "16")},
            },
        )


def cassandra(share: float, repeats: int = 1) -> Cassandra:
    """Return the load scaled to a drive with a share of the paper's size.

    The paper has 6 M records and 60 M operations, which are repeated.
    """
    unit = round(6e6 * share * _RECORD_BYTES / _FILES_UNITS / _BLOCK_BYTES) * _BLOCK_BYTES
    loops = repeats * 60e6 * share * _UPDATES * _RECORD_BYTES / (_LOOP_UNITS * unit)
    return Cassandra(unit, max(1, round(loops / _LARGEST)) * _LARGEST)
