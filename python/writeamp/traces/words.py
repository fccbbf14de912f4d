"""Valid words of trace options, in a file without slow imports."""

from __future__ import annotations

from typing import Literal

# The registered formats, in the order in which they are listed and detected. Each name is that of
# its file in `formats/`.
FORMAT_NAMES = (
    "msr",
    "spc",
    "alibaba",
    "tencent",
    "mqsim",
    "ssdsim",
    "disksim",
    "blkparse",
    "iolog",
    "systor",
    "fiu",
    "libcachesim",
    "vscsi",
    "blktrace",
    "ftrace",
    "biosnoop",
    "xperf",
    "parquet",
)

EXAMPLE = "columns:time=1:ms,device=2,offset=3:bytes,length=4:bytes,op=5:0=read/1=write"

Mapping = Literal["compact", "as-is"]
MAPPINGS: tuple[Mapping, ...] = ("compact", "as-is")

# Names of rows of several writers or of no writer: all small writers, unknown writers, data from
# before a run, and programs that a drive makes for itself.
OTHER, UNKNOWN, BEFORE, DRIVE = "other", "unknown", "before the run", "drive"
NO_WRITERS = (OTHER, UNKNOWN, BEFORE, DRIVE)
# Number of a request without a tag or hint, and the column of a trace's placement hints.
NO_TAG = 255
HINT = "hint"
