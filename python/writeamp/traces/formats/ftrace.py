"""Linux block events as text: ftrace, `trace-cmd report` and `perf script`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import quoted
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.formats.blkparse import WITHOUT_ORIGIN, counts_of, operation_of_rwbs
from writeamp.traces.line_rows import LeftOut, numbered_lines, with_fields, with_rows
from writeamp.traces.row_format import request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.source import Head, TextBlock, read_blocks
from writeamp.traces.trace import OPERATIONS, SECTOR_BYTES, Trace

# The kernel reports a request at several stages; counting events of several stages would count its
# bytes twice. The letters are those of blktrace. By default, the first stage in this order that a
# file has is used. Completions come first, as they are the drive's own events. Inserts come last,
# as most requests bypass the scheduler and have no insert.
ACTIONS = {
    "C": "block_rq_complete",
    "D": "block_rq_issue",
    "Q": "block_bio_queue",
    "I": "block_rq_insert",
}
_FORM = (
    "comm-pid [cpu] seconds: block_rq_complete: major,minor rwbs [bytes (command)] "
    "sector + sectors [priority] [error or comm]"
)
_GAP = r"[ \t]+"
# `perf script` may print a sampling period (a number) after the time, and the group of the event
# (`block:`).
_EVENT = rf"[ \t]([0-9.]+):{_GAP}(?:[0-9]+{_GAP})?(?:block:)?(block_\w+):[ \t]*(.*)$"
_REQUEST = (
    rf"^([0-9]+,[0-9]+){_GAP}([A-Z]+){_GAP}(?:(?:[0-9]+{_GAP})?\([^)]*\){_GAP})?"
    rf"(-?[0-9]+){_GAP}\+{_GAP}([0-9]+){_GAP}(?:\w+,[0-9]+,[0-9]+{_GAP})?\[(.*?)\]?[ \t\r]*$"
)
_REQUEST_FIELDS = ["device", "rwbs", "sector", "sectors", "result"]
# The number of the task that queued or issued a request is before the event, its name in brackets
# at the end. Completed requests have no origin: their task was interrupted by the completion.
_PID = (
    rf"^.*?[- \t]([0-9]+)(?:/[0-9]+)?{_GAP}(?:\([ \t0-9-]*\){_GAP})?(?:\[[0-9]+\]{_GAP})?"
    rf"(?:[A-Za-z0-9.]{{3,}}{_GAP})?[0-9.]+:{_GAP}(?:[0-9]+{_GAP})?(?:block:)?block_"
)
_MENTIONS_EVENT = rf"^[ \t]*[^# \t].*\b(?:{'|'.join(ACTIONS.values())}):"
_DETECTED = re.compile(rb"\bblock_\w+:[ \t]*[0-9]+,[0-9]+[ \t]+[A-Z]+[ \t]")
_LOST = re.compile(
    r"\[LOST (\d+) EVENTS\]|\[(\d+) EVENTS DROPPED\]|PERF_RECORD_LOST\w*.*?\blost (\d+)"
)
# Line with the numbers of stored and of recorded events. ftrace's ring buffer keeps only the latest
# events, so the difference is lost.
_BUFFER = re.compile(r"^# entries-in-buffer/entries-written: (\d+)/(\d+)")
_NOT_EVENTS = r"LOST|DROPPED|entries-written"

_LAYOUT = RowLayout(
    " ",
    {
        "time": FieldKind.SECONDS,
        "device": FieldKind.WORD,
        "operation": FieldKind.WORD,
        "sector": FieldKind.WHOLE,
        "sectors": FieldKind.WHOLE,
    },
)
_OP = ("operation", {name: [name] for name in OPERATIONS})


class _StageEvents:
    """Events of one stage as rows, and counts of all events for the notes."""

    def __init__(self, action: str) -> None:
        self.event = ACTIONS[action]
        self._counts_errors = action == "C"
        self._present: Counter[str] = Counter()
        self._left_out = LeftOut()
        self._tasks = pl.DataFrame()

    def origins(self, block: TextBlock) -> pl.DataFrame:
        """Return the tasks of the requests of the last block of `rows_of`."""
        return self._tasks

    def rows_of(self, block: TextBlock) -> TextBlock:
        """Return a block in which only the events of the stage are rows; other lines are empty."""
        lines = numbered_lines(block)
        events = with_fields(lines, "line", _EVENT, ["time", "event", "rest"])
        self._look_at_others(block, events.filter(pl.col("event").is_null()))
        self._present.update(dict(events["event"].drop_nulls().value_counts().rows()))
        chosen = events.filter(pl.col("event") == self.event)
        requests = self._requests(block, chosen)
        self._tasks = requests.select(
            pl.col("line").str.extract(_PID).alias("pid"), pl.col("result").alias("process")
        )
        return with_rows(block, lines, requests)

    def notes(self) -> list[str]:
        """Return notes on the events that are requests, and on the events left out."""
        stages = Counter({event: self._present[event] for event in ACTIONS.values()})
        notes = [
            f"requests are the events {self.event}; events by stage: {counts_of(+stages)}; "
            f"sectors of {SECTOR_BYTES} bytes"
        ]
        if self.event == ACTIONS["Q"]:
            notes.append(
                "requests queued on md or device mapper are queued again on the drive, so both "
                "devices count them"
            )
        return [*notes, *self._left_out.notes()]

    def doubts(self) -> list[str]:
        """Return warnings about missing events."""
        issued, completed = self._present[ACTIONS["D"]], self._present[ACTIONS["C"]]
        doubts = self._left_out.doubts()
        if self.event == ACTIONS["C"] and issued > completed:
            doubts.append(
                f"{issued} requests were issued but only {completed} completed: the recording "
                "ended before the last completions, or completions are missing (to count issued "
                "requests instead, use --action D)"
            )
        return doubts

    def _look_at_others(self, block: TextBlock, others: pl.DataFrame) -> None:
        """Count lost events, and reject a line with a block event in another form."""
        odd = others.filter(pl.col("line").str.contains(_MENTIONS_EVENT))
        if odd.height:
            number, line = odd.select("number", "line").row(0)
            raise block.fault(number, f"the row is {quoted(line.strip())}, valid is {_FORM}")
        for line in others.filter(pl.col("line").str.contains(_NOT_EVENTS))["line"]:
            if lost := _LOST.search(line):
                self._left_out.lost += int(next(filter(None, lost.groups())))
            elif buffered := _BUFFER.match(line):
                self._left_out.lost += max(0, int(buffered[2]) - int(buffered[1]))

    def _requests(self, block: TextBlock, events: pl.DataFrame) -> pl.DataFrame:
        fields = with_fields(events, "rest", _REQUEST, _REQUEST_FIELDS)
        self._refuse_odd(block, fields)
        names = {word: operation_of_rwbs(word) or word for word in fields["rwbs"].unique()}
        has_sectors = pl.col("sectors").str.contains("[1-9]")
        is_flush = (pl.col("name") == "flush") | (
            ~has_sectors & pl.col("rwbs").str.starts_with("F")
        )
        failed = (pl.col("result") != "0") if self._counts_errors else pl.lit(False)
        # Other commands in RWBS: zone commands, or write-zeroes, for which the drive may either
        # write or trim.
        is_other = ~pl.col("name").is_in(OPERATIONS)
        reason = (
            pl.when(failed)
            .then(pl.lit("requests that failed"))
            .when(is_flush)
            .then(None)
            .when(is_other)
            .then(pl.format("events with RWBS {}", "rwbs"))
            .when(~has_sectors)
            .then(pl.lit("events without sectors"))
        )
        named = fields.with_columns(
            name=pl.col("rwbs").replace_strict(names, return_dtype=pl.String)
        )
        sorted_out = named.with_columns(reason=reason, is_flush=is_flush)
        self._left_out.reasons.update(
            dict(sorted_out["reason"].drop_nulls().value_counts(sort=True).rows())
        )
        # A flush may have the sector -1, so its sector is not used.
        extent = (
            pl.when("is_flush")
            .then(pl.lit("0 0"))
            .otherwise(pl.format("{} {}", "sector", "sectors"))
        )
        name = pl.when("is_flush").then(pl.lit("flush")).otherwise("name")
        return sorted_out.filter(pl.col("reason").is_null()).select(
            "number",
            "line",
            "result",
            row=pl.format("{} {} {} {}", "time", "device", name, extent),
        )

    @staticmethod
    def _refuse_odd(block: TextBlock, fields: pl.DataFrame) -> None:
        odd = fields.filter(pl.col("device").is_null())
        if odd.height:
            number, line = odd.select("number", "line").row(0)
            raise block.fault(number, f"the event is {quoted(line.strip())}, valid is {_FORM}")
        unclear = fields.filter(~pl.col("time").str.contains(".", literal=True))
        if unclear.height:
            number, time = unclear.select("number", "time").row(0)
            raise block.fault(
                number,
                f"time is {quoted(time)}, a count of an unknown clock; valid are seconds such as "
                "12.345678 (record with trace_clock local, global or mono)",
            )


def read(path: Path, options: ReadOptions) -> Trace:
    """Read the events of one stage.

    Raises:
        WriteampError: a row is not valid, or the stage has no events.
    """
    action = _action(path, options.action)
    events = _StageEvents(action)
    return request_rows(
        "ftrace",
        _LAYOUT,
        ["device"],
        _OP,
        time="time",
        offset=("sector", SECTOR_BYTES),
        length=("sectors", SECTOR_BYTES),
        notes=[],
        without_others=events.rows_of,
        left_out=events.notes,
        doubts=events.doubts,
        origins=None if action == WITHOUT_ORIGIN else events.origins,
    ).read(path, origins=bool(options.origins))


def _action(path: Path, requested: str | None) -> str:
    """Return the requested stage, or the first of `ACTIONS` that the file has.

    Raises:
        WriteampError: the file has no events of block requests, or not of the requested stage.
    """
    present: set[str] = set()
    for block in read_blocks(path):
        present |= {name for name, event in ACTIONS.items() if f"{event}:".encode() in block.text}
        if (requested or next(iter(ACTIONS))) in present:
            break
    usable = [name for name in ACTIONS if name in present]
    if requested in usable or (usable and requested is None):
        return requested or usable[0]
    if not usable:
        raise WriteampError(
            f"{path}: has no events of block requests; it must have one of "
            f"{', '.join(ACTIONS.values())}"
        )
    raise WriteampError(
        f"{path}: no event is {ACTIONS[str(requested)]} (action {requested}); choose with action "
        f"(--action) from {', '.join(f'{name} ({ACTIONS[name]})' for name in usable)}"
    )


def _matches(head: Head) -> bool:
    return bool(_DETECTED.search(head.start))


FORMAT = Format(
    name="ftrace",
    summary="block events of Linux from ftrace, trace-cmd report and perf script",
    columns=_FORM,
    units="time in seconds; sectors of 512 bytes; one stage is read, the first of these that the "
    "file has: C completed, D issued, Q queued, I inserted",
    detection="an event block_… of a device major,minor in the first 64 KiB",
    matches=_matches,
    reader=read,
    actions=tuple(ACTIONS),
)
