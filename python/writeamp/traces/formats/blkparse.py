"""blkparse: the text output of ``blkparse`` from a Linux blktrace, in its default format."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import BinaryIO

import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import quoted
from writeamp.traces.assemble import DeviceCodes, assemble
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.line_rows import LeftOut, with_fields
from writeamp.traces.row_format import any_line, named_origins
from writeamp.traces.rows import RowCheck, first_failure, read_lines
from writeamp.traces.source import TextBlock, read_blocks
from writeamp.traces.text_output import (
    DEVICE,
    decimal_time,
    refuse_early_times,
    refuse_part_sectors,
    renaming_notes,
    sectors,
    write_columns,
)
from writeamp.traces.trace import (
    MAX_END_BYTES,
    MAX_LENGTH_BYTES,
    MAX_TIMESTAMP_NS,
    SECTOR_BYTES,
    Operation,
    Trace,
)

# blktrace reports each request once per stage on its way to the drive; the action is the stage. So
# only events of one action are read: with several, the same bytes would count twice.
ACTIONS = {"Q": "queued by the host", "D": "issued to the device", "C": "completed"}
DEFAULT_ACTION = "Q"

_FORM = "major,minor cpu sequence time pid action rwbs sector + sectors [process]"
_GAP = r"[ \t]+"
_UP_TO_ACTION = _GAP.join(
    [r"^[ \t]*([0-9]+,[0-9]+)", "[0-9]+", "[0-9]+", r"([0-9.]+)", "[0-9]+", "([A-Za-z]+)"]
)
_ACTION_GROUP = 3
# After RWBS comes a range of sectors; for a flush or a command without sectors, the process or the
# bytes of the command follow at once.
_AFTER_ACTION = rf"([A-Z]+){_GAP}(?:([0-9]+){_GAP})?(?:\+{_GAP}([0-9]+)(?:[ \t]|$)|[\[(])"
_EVENT = rf"{_UP_TO_ACTION}{_GAP}{_AFTER_ACTION}"
_EVENT_FIELDS = ["device", "time", "action", "rwbs", "sector", "sectors"]
# The process of an event is in brackets at the end of its line. A completed event has the number of
# an error there, and the process that was interrupted by the completion; it has no origin.
_ORIGIN = (
    rf"^[ \t]*[0-9,]+{_GAP}[0-9]+{_GAP}[0-9]+{_GAP}[0-9.]+{_GAP}([0-9]+)[ \t].*?\[(.*)\][ \t]*$"
)
# What this module writes as the process of every request, with the number 0.
_OURS = "writeamp"
WITHOUT_ORIGIN = "C"

_ROW = re.compile(rf"{_UP_TO_ACTION}([ \t].*)?")
_EVENT_BEGINNING = re.compile(r"\s*\d+,\d+\s")
_DEVICE = re.compile(r"\d+,\d+")
# After the events comes a summary in words; its first line starts with one of these.
_SUMMARY = re.compile(r"\s*(CPU\d+ |Total |Throughput |Events |Skips: |=== )")
_SKIPPED = re.compile(r"\s*Skips: \S+ forward \(([\d,]+)")
_CHATTER = re.compile(r"\s*Input file ")  # "Input file sda.blktrace.0 added", at any line

# RWBS: F for a flush before the request; then read, write, discard or none; then flags that are
# ignored: erase, forced unit access, ahead, sync, meta, barrier, atomic.
_RWBS = re.compile(r"(?P<flush>F?)(?P<operation>[RWDN]?)E?[FASMBU]*")
_OPERATION_OF_LETTER = {"R": "read", "W": "write", "D": "trim"}
_NO_OPERATION = "none"

_LONGEST_SECTORS = MAX_LENGTH_BYTES // SECTOR_BYTES
_LAST_SECTOR = (MAX_END_BYTES - MAX_LENGTH_BYTES) // SECTOR_BYTES
_HAS_RANGE = pl.col("sectors").is_not_null()
_CHECKS = (
    RowCheck(pl.col("device").is_not_null(), f"the event is {{line}}, valid is {_FORM}"),
    RowCheck(
        pl.col("operation").is_not_null(),
        "RWBS is {rwbs}, valid is one of R, W, D (discard), F (flush) and N (none) with modifiers",
    ),
    RowCheck(
        pl.col("time_ns").is_between(0, MAX_TIMESTAMP_NS).fill_null(False),
        "time is {time}, valid are seconds from 0 to 2^63 - 1 ns",
    ),
    RowCheck(
        ~_HAS_RANGE | (pl.col("first") <= _LAST_SECTOR).fill_null(False),
        f"the sector is {{sector}}, valid are 0 to {_LAST_SECTOR}",
    ),
    RowCheck(
        ~_HAS_RANGE | (pl.col("count") <= _LONGEST_SECTORS).fill_null(False),
        f"the number of sectors is {{sectors}}, valid are 0 to {_LONGEST_SECTORS}",
    ),
)


def read(path: Path, options: ReadOptions) -> Trace:
    """Read the events of one action from blkparse text.

    Raises:
        WriteampError: a row is not valid, or no event has the action.
    """
    action = options.action or DEFAULT_ACTION
    devices = DeviceCodes(",")
    parts: list[pl.DataFrame] = []
    present: Counter[str] = Counter()
    without_range = 0
    in_summary = False
    lost = LeftOut()
    for block in read_blocks(path):
        events, in_summary = _events(block, in_summary, lost)
        present.update(dict(events["action"].value_counts().rows()))
        chosen = events.filter(pl.col("action") == action)
        has_origins = bool(options.origins) and action != WITHOUT_ORIGIN
        requests, others = _requests(block, chosen, devices, origins=has_origins)
        parts.append(requests)
        without_range += others
    if present and not present[action]:
        raise no_such_action(path, action, present, chosen=options.action is not None)
    notes = [
        f"requests are the events of action {action} ({ACTIONS[action]}); events by action: "
        f"{counts_of(present)}; sectors of 512 bytes"
    ]
    if without_range:
        notes.append(f"{without_range} events without a range of sectors are left out")
    # A text with a single action was selected before, so missing actions do not mean lost events.
    doubts = doubts_of(present) if len(present) > 1 else []
    return assemble(path, "blkparse", parts, devices, notes, doubts=[*lost.doubts(), *doubts])


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write each request as one queued event (Q)."""
    refuse_early_times(trace, "blkparse")
    refuse_part_sectors(trace, "blkparse", ["offset", "length"])
    named = all(_DEVICE.fullmatch(name) for name in trace.devices)
    labels = trace.devices if named else [f"0,{i}" for i in range(len(trace.devices))]
    letters = {"read": "R", "write": "W", "trim": "D", "flush": "FN"}
    extent = pl.format("{} + {}", sectors("offset"), sectors("length"))
    columns = [
        DEVICE,
        pl.lit(0),
        pl.col("sequence"),
        decimal_time(10**9),
        pl.lit(0),
        pl.lit("Q"),
        pl.col("op").cast(pl.String).replace_strict(letters),
        # A flush has no sectors, so blkparse prints none.
        pl.when(pl.col("op") == "flush").then(pl.lit(f"[{_OURS}]")).otherwise(extent),
        pl.when(pl.col("op") == "flush").then(pl.lit("")).otherwise(pl.lit(f"[{_OURS}]")),
    ]
    write_columns(
        trace.requests.with_row_index("sequence", offset=1), columns, " ", file, labels=labels
    )
    return renaming_notes(trace, labels)


def _events(block: TextBlock, in_summary: bool, lost: LeftOut) -> tuple[pl.DataFrame, bool]:
    """Return the event lines with number and action, and whether a summary has begun.

    Events that the summary reports as skipped are added to `lost`.
    """
    lines = read_lines(block.text).with_columns(
        number=pl.int_range(pl.len()) + block.first_line,
        action=pl.col("line").str.extract(_UP_TO_ACTION, _ACTION_GROUP),
    )
    if lines["action"].has_nulls():
        others = lines.filter(pl.col("action").is_null() & pl.col("line").str.contains(r"\S"))
        for line, number in others.select("line", "number").iter_rows():
            in_summary = in_summary or bool(_SUMMARY.match(line))
            if skipped := _SKIPPED.match(line):
                lost.lost += int(skipped[1].replace(",", ""))
            ignorable = in_summary or _CHATTER.match(line)
            if not ignorable or _EVENT_BEGINNING.match(line):
                raise block.fault(number, f"the row is {quoted(line)}, valid is {_FORM}")
        lines = lines.drop_nulls("action")
    return lines, in_summary


def _requests(
    block: TextBlock, events: pl.DataFrame, devices: DeviceCodes, *, origins: bool
) -> tuple[pl.DataFrame, int]:
    """Return the requests among the events of one action, and the number of other events.

    With `origins`, the requests have the processes of their events.
    """
    groups = pl.col("line").str.extract_groups(_EVENT).struct.rename_fields(_EVENT_FIELDS)
    texts = events.select("number", "line", groups.alias("fields")).unnest("fields")
    operation_of = {word: operation_of_rwbs(word) for word in texts["rwbs"].unique()}
    fields = texts.with_columns(
        time_ns=pl.col("time").cast(pl.Decimal(38, 9), strict=False).to_physical(),
        first=pl.col("sector").cast(pl.UInt64, strict=False),
        count=pl.col("sectors").cast(pl.UInt64, strict=False),
        operation=pl.col("rwbs").replace_strict(operation_of, return_dtype=pl.String),
    )
    failure = first_failure(fields, _CHECKS)
    if failure:
        row, sentence = failure
        event = fields.row(row, named=True)
        values = {name: quoted(value) for name, value in event.items()}
        raise block.fault(event["number"], sentence.format(**values))
    # A write with F in front is a flush followed by the write; without sectors, it is only a flush.
    is_flush = (pl.col("operation") == "flush") | (
        ~_HAS_RANGE & pl.col("rwbs").str.starts_with("F")
    )
    is_request = is_flush | (_HAS_RANGE & (pl.col("operation") != _NO_OPERATION))
    chosen = fields.filter(is_request)
    requests = chosen.select(
        timestamp_ns=pl.col("time_ns").cast(pl.Int64),
        device=devices.encode(chosen, ["device"]),
        op=pl.when(is_flush).then(pl.lit("flush")).otherwise("operation").cast(Operation),
        offset=pl.when(is_flush).then(0).otherwise(pl.col("first") * SECTOR_BYTES),
        length=pl.when(is_flush).then(0).otherwise(pl.col("count") * SECTOR_BYTES).cast(pl.UInt32),
    )
    if origins:
        columns = with_fields(chosen.select("line"), "line", _ORIGIN, ["pid", "process"])
        is_ours = (pl.col("pid") == "0") & (pl.col("process") == _OURS)
        columns = columns.with_columns(pl.when(~is_ours).then(pl.col("pid", "process")))
        requests = requests.hstack(named_origins(columns))
    return requests, events.height - chosen.height


def operation_of_rwbs(rwbs: str | None) -> str | None:
    """Return the operation of the letters of RWBS, or None if they are not RWBS."""
    match = _RWBS.fullmatch(rwbs or "?")
    if not match:
        return None
    without_data = "flush" if match["flush"] else _NO_OPERATION
    return _OPERATION_OF_LETTER.get(match["operation"], without_data)


def no_such_action(
    path: Path, action: str, present: Counter[str], *, chosen: bool
) -> WriteampError:
    """Return the error for a trace without events of an action; it lists the present actions."""
    usable = [name for name in ACTIONS if present[name]]
    counts = f"there are {counts_of(present)}"
    missing = f"{path}: no event has {'' if chosen else 'the default '}action {action}"
    if not usable:
        return WriteampError(f"{missing}, nor one of {', '.join(ACTIONS)}; {counts}")
    return WriteampError(
        f"{missing}; {counts}; choose with action (--action) from {', '.join(usable)}"
    )


def doubts_of(present: Counter[str]) -> list[str]:
    """Return sentences on missing events, judged by the number of events of each action."""
    doubts = []
    if not present["C"]:
        doubts.append(
            "no event has action C: completions were not traced, or files of CPUs are missing"
        )
    if present["D"] > present["Q"] > 0:
        doubts.append(
            f"more requests were issued ({present['D']} D) than queued ({present['Q']} Q): "
            "requests were split, or events are missing"
        )
    return doubts


def counts_of(present: Counter[str]) -> str:
    """Return the number of events of each action as text, the most frequent first."""
    most_first = sorted(present.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {action}" for action, count in most_first)


FORMAT = Format(
    name="blkparse",
    summary="text output of blkparse from a Linux blktrace; the events of one action are read",
    columns=_FORM,
    units="time in seconds; sectors of 512 bytes; R read, W write, D discard (trim), F flush",
    detection="rows of major,minor cpu sequence seconds pid action",
    matches=partial(any_line, _ROW),
    reader=read,
    writer=write,
    actions=tuple(ACTIONS),
)
