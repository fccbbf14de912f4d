"""Stand-in for Cassandra under YCSB in the sizes of Park et al. 2017, Table 5: a job of fio.

It is not the program: `cassandra.fio` writes a commit log and sorted tables as a log-structured
store does, in the sizes that follow from the records, and as much as the operations would.
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
# A record of YCSB is of ten fields of 100 bytes; of its operations half update one (workload A).
_RECORD_BYTES = 1024
_UPDATES = 0.5
# Of the job's smallest table: all files together, and how many are written in a loop for each of
# the log and the three sizes of tables. The largest are four of sixteen, so loops come by sixteens.
_FILES_UNITS, _LOOP_UNITS, _LARGEST = 88, 4, 16
_BLOCK_BYTES = 4096


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [] if shutil.which(_PROGRAM) else [_PROGRAM]


@dataclass(frozen=True)
class Cassandra:
    """Tables that are merged into larger ones, and the log that comes before them."""

    unit_bytes: int
    loops: int

    @property
    def later_bytes(self) -> int:
        """Bytes of the files once the load runs; before, there are none."""
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


def cassandra(share: float) -> Cassandra:
    """Return the load on a drive that is `share` of the paper's: 6 M records, 60 M operations."""
    unit = round(6e6 * share * _RECORD_BYTES / _FILES_UNITS / _BLOCK_BYTES) * _BLOCK_BYTES
    loops = 60e6 * share * _UPDATES * _RECORD_BYTES / (_LOOP_UNITS * unit)
    return Cassandra(unit, max(1, round(loops / _LARGEST)) * _LARGEST)
