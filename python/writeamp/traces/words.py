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
