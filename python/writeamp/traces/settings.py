"""Settings of reading and converting traces, from which options are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import OneOf, Text, shown
from writeamp.fields.setting import Settings, setting
from writeamp.traces.words import EXAMPLE, FORMAT_NAMES

_NAMES = ("process", "pid", "file", "directory", "device", "volume")
_RANGE = re.compile(r"range:(\d{1,9})")
_MOST_RANGES = 4096
DIVISIONS = (*_NAMES, "range:N")


class Division:
    """Domain of the divisions of a trace's requests."""

    def check(self, name: str, value: Any) -> str:
        """Return the text if it is valid."""
        if not isinstance(value, str):
            raise WriteampError(f"{name} is {shown(value)}; valid are {', '.join(DIVISIONS)}")
        if value in _NAMES:
            return value
        count = _RANGE.fullmatch(value)
        if count is None:
            raise unknown(f"division {name}", value, DIVISIONS)
        if not 1 <= int(count[1]) <= _MOST_RANGES:
            raise WriteampError(f"{name} is {value}; valid are range:1 to range:{_MOST_RANGES}")
        return f"range:{int(count[1])}"


def range_count(by: str) -> int | None:
    """Return N of `range:N`; None for other values."""
    count = _RANGE.fullmatch(by)
    return None if count is None else int(count[1])


class _TraceFormat:
    """Domain of format names, and of the meaning of a table's columns."""

    def check(self, name: str, value: Any) -> str:
        """Return the canonical spelling of the format."""
        if isinstance(value, str):
            from writeamp.traces.registry import find_format  # noqa: PLC0415 (slow)

            return find_format(value).name
        return OneOf(FORMAT_NAMES).check(name, value)


def format_setting(what: str = "the trace", **words: Any) -> Any:
    """Return a setting for the format of a file to read."""
    return setting(
        None,
        _TraceFormat(),
        f"format of {what}; default: detected from its first rows. One of "
        f"{', '.join(FORMAT_NAMES)}; or the meaning of its columns, as in {EXAMPLE}",
        choices=FORMAT_NAMES,
        **({"flag": "--format"} | words),
    )


def action_setting(**words: Any) -> Any:
    """Return a setting for the kind of events that count as requests in Linux block traces."""
    return setting(
        None,
        Text(),
        "event that counts as a request in blkparse, blktrace and ftrace, which have several per "
        "request: Q queued, D issued to the drive, C completed, or I inserted (ftrace only); "
        "default: Q, in ftrace the first of C, D, Q and I in the file",
        **words,
    )


@dataclass(frozen=True)
class ReadSettings(Settings):
    """Settings of reading a trace file."""

    title: ClassVar[str] = "trace"

    trace_format: str | None = format_setting()
    action: str | None = action_setting()


@dataclass(frozen=True)
class ConversionSettings(Settings):
    """Settings of writing a trace in another format."""

    title: ClassVar[str] = "conversion"

    source: str | None = format_setting("FILE", flag="--from")
    target: str | None = setting(
        None,
        None,
        "format of OUT; default: the suffix of OUT, such as .parquet or .msr",
        flag="--to",
        choices=FORMAT_NAMES,
    )
    action: str | None = action_setting()


@dataclass(frozen=True)
class FetchSettings(Settings):
    """Settings of downloading a public trace."""

    title: ClassVar[str] = "fetch"

    to: str | None = setting(
        None,
        None,
        "folder of the file; default: writeamp/traces in $XDG_CACHE_HOME or ~/.cache",
        number="path",
        metavar="DIR",
    )
