"""Operations, stages, numbers and times in the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.text import quoted, shortened
from writeamp.traces.clocks import DATES_S
from writeamp.traces.column_values import spec_error
from writeamp.traces.columns import StatedColumns
from writeamp.traces.formats.blkparse import operation_of_rwbs
from writeamp.traces.rows import squeeze
from writeamp.traces.source import TextBlock, read_head
from writeamp.traces.text_values import nanoseconds_since_1970_of
from writeamp.traces.trace import OPERATIONS

_SPELLINGS = {
    "read": {"r", "read", "rd", "reads", "diskread", "ioread", "pread", "pread64", "read10",
             "read16", "28", "0x28", "88", "0x88"},
    "write": {"w", "write", "wr", "writes", "diskwrite", "iowrite", "pwrite", "pwrite64",
              "write10", "write16", "2a", "0x2a", "8a", "0x8a"},
    "trim": {"d", "t", "trim", "discard", "unmap", "deallocate"},
    "flush": {"f", "flush", "sync", "fsync", "fdatasync", "diskflush"},
}  # fmt: skip
# A column with more distinct words than this is taken for one without stages and operations.
_MOST_WORDS = 16
# Stages of a request, as letters of blktrace and as words. The other actions of blktrace concern
# several requests or none.
_STAGES = {"Q", "G", "I", "D", "C"}
_ACTIONS = _STAGES | {"A", "B", "F", "M", "P", "R", "S", "T", "U", "UT", "X"}
_STAGE_WORDS = {
    "queue", "queued", "insert", "inserted", "issue", "issued", "dispatch", "dispatched", "submit",
    "submitted", "start", "started", "complete", "completed", "completion", "done", "end", "ended",
    "finish", "finished", "init",
}  # fmt: skip
_STAGE_PREFIXES = ("block:", "block_rq_", "block_bio_", "block_io_")
# Stages in order of preference. Completions are first, as they show the order in which the drive
# worked.
_FIRST_STAGES = ("C", "D", "Q")
_WHOLE = re.compile(r"\d{1,19}(\.0+)?")
_OPPOSITES = [("R", "W"), ("r", "w"), ("read", "write"), ("Read", "Write"), ("READ", "WRITE")]
_FLAGS = [("0", "1"), ("false", "true"), ("False", "True"), ("FALSE", "TRUE")]
_HEXADECIMAL = re.compile(r"0x[0-9a-f]{1,15}", re.IGNORECASE)
_BARE_HEXADECIMAL = re.compile(r"[0-9a-f]{1,15}", re.IGNORECASE)
_EXPONENT = re.compile(r"\d+e\d{1,2}", re.IGNORECASE)
_DECIMAL = re.compile(r"\d{1,19}(\.\d*)?(e[+-]?\d{1,2})?", re.IGNORECASE)
_DEVICE = re.compile(
    r"(/dev/)?((sd|hd|vd|xvd)[a-z]+\d*|nvme\d+n\d+(p\d+)?|dm-\d+|md\d+|mmcblk\d+(p\d+)?|loop\d+)"
    r"|\d+,\d+|PhysicalDrive\d+",
    re.IGNORECASE,
)
_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# Dates from 2001 to 2040 as numbers of each unit; Windows file times count from 1601.
_DATES = {
    **{unit: (DATES_S.start * per_s, DATES_S.stop * per_s) for unit, per_s in _PER_S.items()},
    "filetime": (1.262e17, 1.386e17),
}
# Number of digits after the point that proves seconds: times in milliseconds have at most 6.
_DIGITS_OF_SECONDS = 9
_RISING = 0.75

Numbers = npt.NDArray[np.float64]


def operations_in(values: Sequence[str]) -> dict[str, str] | None:
    """Return the words of a column with their operations; None if any word is unknown.

    None also for a column of numbers, and for more than 16 words.
    """
    words = list(dict.fromkeys(values))
    if not words or len(words) > _MOST_WORDS or all(word.isdecimal() for word in words):
        return None
    meanings = {word: _meaning(word) for word in words}
    known_words = {word: meaning for word, meaning in meanings.items() if meaning in OPERATIONS}
    return known_words if len(known_words) == len(words) else None


def _meaning(word: str) -> str | None:
    bare = re.sub(r"[\s\"'()_/-]", "", word).lower()
    for meaning, spellings in _SPELLINGS.items():
        if bare in spellings:
            return meaning
    return operation_of_rwbs(word)


def with_opposites(operations: Mapping[str, str]) -> dict[str, str]:
    """Return operation words with their opposites, such as W for R, if all are reads or writes."""
    words = dict(operations)
    for read, write in _OPPOSITES:
        if {read, write} & set(operations) and set(operations.values()) <= {"read", "write"}:
            words |= {read: "read", write: "write"}
    return words


def stage_in(values: Sequence[str]) -> str:
    """Return the stage whose rows count as requests; "" if a column has fewer than two stages."""
    words = distinct(values)
    if not are_stages(words):
        return ""
    completed = [word for word in words if "compl" in word.lower()]
    return next(word for word in (*_FIRST_STAGES, *completed, *words) if word in words)


def distinct(words: Iterable[str]) -> list[str]:
    """Return the distinct non-empty words as they first occur; an empty list for more than 16."""
    present = [word for word in dict.fromkeys(words) if word]
    return present if len(present) <= _MOST_WORDS else []


def are_stages(words: Sequence[str]) -> bool:
    """Return whether words are several stages of a request, such as queued and completed."""
    if set(words) <= _ACTIONS:
        return len(_STAGES & set(words)) > 1
    return len(words) > 1 and all(_bare(word) in _STAGE_WORDS for word in words)


def _bare(word: str) -> str:
    for prefix in _STAGE_PREFIXES:
        word = word.removeprefix(prefix)
    return word.removesuffix(":").lower()


def flags_in(values: Sequence[str]) -> tuple[str, str] | None:
    """Return the words for no and yes, such as 0 and 1, of a column that has only these words."""
    return next((flags for flags in _FLAGS if set(values) <= set(flags)), None)


def is_date_and_time(values: Sequence[str]) -> bool:
    """Return whether all values are dates with times, for the unit `datetime`."""
    return not nanoseconds_since_1970_of(pl.Series(values, dtype=pl.String)).has_nulls()


def is_device(values: Sequence[str]) -> bool:
    """Return whether all values are names of block devices, such as nvme0n1 or 8,0."""
    return all(_DEVICE.fullmatch(value) for value in values)


def whole_numbers_in(values: Sequence[str]) -> npt.NDArray[np.int64] | None:
    """Return the whole numbers of a column, decimal or hexadecimal; None for other values."""
    if is_bare_hexadecimal(values):
        numbers = [int(value, 16) for value in values]
    elif all(_WHOLE.fullmatch(value) or _HEXADECIMAL.fullmatch(value) for value in values):
        numbers = [
            int(value, 16) if value[:2] in ("0x", "0X") else int(value.partition(".")[0])
            for value in values
        ]
    else:
        return None
    return None if max(numbers, default=0) >= 2**63 else np.array(numbers, np.int64)


def is_bare_hexadecimal(values: Sequence[str]) -> bool:
    """Return whether a column has hexadecimal numbers that do not begin with 0x."""
    return (
        all(_BARE_HEXADECIMAL.fullmatch(value) for value in values)
        and not all(value.isdecimal() or _EXPONENT.fullmatch(value) for value in values)
        and any(value[0].isdecimal() for value in values)
    )


def is_rising(values: Sequence[str]) -> bool:
    """Return whether a column has only decimal numbers, and at least 75% of its steps are ≥ 0."""
    if not all(_DECIMAL.fullmatch(value) for value in values):
        return False
    steps = np.diff([float(value) for value in values])
    return not len(steps) or bool((steps >= 0).mean() >= _RISING)


def is_clock(values: Sequence[str]) -> bool:
    """Return whether a column rises like times: it is neither constant nor a row number."""
    if not is_rising(values):
        return False
    steps = np.diff([float(value) for value in values])
    return bool(steps.any() and (steps != 1).any())


def time_unit_in(values: Sequence[str]) -> str:
    """Return the unit of time that the values of a column prove by their size or digits, or ""."""
    if not values or not is_rising(values):
        return ""
    numbers = [float(value) for value in values]
    if len(values) > 1 and min(numbers) == max(numbers):
        return ""  # the same date in all rows is not the request's time, so it proves no unit
    for unit, (first, last) in _DATES.items():
        if first <= min(numbers) and max(numbers) < last:
            return unit
    digits = {len(value.partition(".")[2]) for value in values}
    return "s" if digits == {_DIGITS_OF_SECONDS} else ""


def refuse_mixed_file(
    path: Path,
    columns: StatedColumns,
    stated: Collection[int | None],
    rows_of: Callable[[TextBlock], TextBlock],
) -> None:
    """Reject a file if a column that the user did not state has stages or operations.

    Args:
        path: the file.
        columns: the stated columns.
        stated: their positions, from 0.
        rows_of: function that empties the lines of a block that are not requests.
    """
    whole_lines = read_head(path).start.decode("utf-8", "replace").rpartition("\n")
    head = TextBlock(path, 1, (whole_lines[0] or whole_lines[2]).encode())
    text = squeeze(rows_of(head).text, columns.separator).decode()
    rows = [line.split(columns.separator) for line in text.split("\n") if line]
    words = {
        (position + 1, ""): distinct(row[position] for row in rows if position < len(row))
        for position in range(max(map(len, rows), default=0))
        if position not in stated
    }
    refuse_mixed_rows(columns, words)


def refuse_mixed_rows(
    columns: StatedColumns,
    values: Mapping[tuple[int, str], Sequence[str]],
) -> None:
    """Reject a table in which rows of several stages or operations would all count.

    Args:
        columns: the stated columns.
        values: distinct values of the other columns, by number from 1 and name.

    Raises:
        WriteampError: a column holds several stages of requests; or all rows are stated to be of
            one operation, and a column names others.
    """
    for (number, name), words in values.items():
        column = f"column {number}" + (f" ({quoted(name)})" if name else "")
        if are_stages(words):
            raise spec_error(
                f"{column} holds {shortened(words)}, stages of a request, so each request would "
                f"count several times: state one stage, such as only={number}:{words[0]}, or "
                f"only={number}:{'/'.join(words)} to count all rows"
            )
        operations = operations_in(words) if columns.op.always else None
        # Columns of single letters may have another meaning, and all writes may be "sync". So only
        # reads beside writes, or an operation of several letters, prove a column of operations.
        meanings = set() if operations is None else set(operations.values())
        is_sure = {"read", "write"} <= meanings or any(len(word) > 1 for word in words)
        if operations and is_sure and meanings not in ({columns.op.always}, {"flush"}):
            stated = "/".join(f"{word}={meaning}" for word, meaning in operations.items())
            raise spec_error(
                f"op={columns.op.always} takes all rows for that operation, but {column} holds "
                f"{shortened(words)}: state op={number}:{stated}, or only={number}:…"
            )
