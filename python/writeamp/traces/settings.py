"""Settings of reading and converting traces, from which options are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.fields.domains import OneOf, Text
from writeamp.fields.setting import Settings, setting
from writeamp.traces.words import EXAMPLE, FORMAT_NAMES


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
