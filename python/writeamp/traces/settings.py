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
        f"format of {what} if it cannot be detected: {', '.join(FORMAT_NAMES)}; or the meaning of "
        f"its columns, as in {EXAMPLE}",
        choices=FORMAT_NAMES,
        **({"flag": "--format"} | words),
    )


def action_setting(**words: Any) -> Any:
    """Return a setting for the stage of requests that counts in traces of the block layer."""
    return setting(
        None, Text(), "stage of a request that counts in blkparse and ftrace: Q, D or C", **words
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
        "format of OUT, if it does not follow from the suffix (as it does for .parquet)",
        flag="--to",
        choices=FORMAT_NAMES,
    )
    action: str | None = action_setting()
