"""Setting of `blame`: division of the requests of a trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown
from writeamp.fields.setting import Places, Settings, setting
from writeamp.settings.experiment import setting_places

_NAMES = ("process", "pid", "file", "directory", "device", "volume")
_RANGE = re.compile(r"range:(\d{1,9})")
_MOST_RANGES = 4096
_VALID = (*_NAMES, "range:N")


class _By:
    """Domain of what requests are divided by."""

    def check(self, name: str, value: Any) -> str:
        """Return the text if it is valid."""
        if not isinstance(value, str):
            raise WriteampError(f"{name} is {shown(value)}; valid are {', '.join(_VALID)}")
        if value in _NAMES:
            return value
        count = _RANGE.fullmatch(value)
        if count is None:
            raise unknown(f"division {name}", value, _VALID)
        if not 1 <= int(count[1]) <= _MOST_RANGES:
            raise WriteampError(f"{name} is {value}; valid are range:1 to range:{_MOST_RANGES}")
        return f"range:{int(count[1])}"


# Settings of `simulate` that `blame` does not have: other loads, and other forms of the result.
LEFT_OUT = (
    *("workload", "trace", "utilization", "spread", "capacity"),
    *("rb_capture", "rb_rate", "rb_jitter", "rb_missed"),
)
# Group and field of each setting of `blame` that `simulate` also has.
BLAME_PLACES: Places = {
    name: place for name, place in setting_places("simulate").items() if name not in LEFT_OUT
}


def range_count(by: str) -> int | None:
    """Return N of `range:N`; None for other values."""
    count = _RANGE.fullmatch(by)
    return None if count is None else int(count[1])


@dataclass(frozen=True)
class BlameSettings(Settings):
    """Division of the requests of a trace."""

    title: ClassVar[str] = "blame"

    by: str = setting(
        None,
        _By(),
        "divide the requests by process, pid (process and its number), file, directory (of the "
        "file), device (or volume, which is the same), or range:N, N equal ranges of the addresses",
        required=True,
        choices=_VALID,
        metavar="WHAT",
        panel="blame",
    )
