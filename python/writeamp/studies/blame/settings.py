"""Setting of `blame`: division of the requests of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.setting import Places, Settings, setting
from writeamp.settings.experiment import setting_places
from writeamp.traces.settings import DIVISIONS, Division

# Settings of `simulate` that `blame` does not have: other loads, and other forms of the result.
LEFT_OUT = (
    *("workload", "fio", "fio_run", "trace", "hints_by", "utilization", "spread", "capacity"),
    *("rb_capture", "rb_rate", "rb_jitter", "rb_missed"),
)
# Group and field of each setting of `blame` that `simulate` also has.
BLAME_PLACES: Places = {
    name: place for name, place in setting_places("simulate").items() if name not in LEFT_OUT
}


@dataclass(frozen=True)
class BlameSettings(Settings):
    """Division of the requests of a trace."""

    title: ClassVar[str] = "blame"

    by: str = setting(
        None,
        Division(),
        "divide the requests by process, pid (process and its number), file, directory (of the "
        "file), device (or volume, which is the same), or range:N, N equal ranges of the addresses",
        required=True,
        choices=DIVISIONS,
        metavar="WHAT",
        panel="blame",
    )
