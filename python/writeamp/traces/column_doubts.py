"""Check of stated columns: rows of several stages or operations are refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from writeamp.traces.column_values import spec_error
from writeamp.traces.columns import Columns
from writeamp.traces.quoting import quoted, shortened
from writeamp.traces.rows import squeeze
from writeamp.traces.source import Block, read_head
from writeamp.traces.trace import OPERATIONS

# Stages of a request in blktrace, and in words; the other actions of blktrace concern no request
# or several.
_STAGES = {"Q", "G", "I", "D", "C"}
_ACTIONS = _STAGES | {"A", "B", "F", "M", "P", "R", "S", "T", "U", "UT", "X"}
_STAGE_WORDS = {
    "queue", "queued", "insert", "inserted", "issue", "issued", "dispatch", "dispatched", "submit",
    "submitted", "start", "started", "complete", "completed", "completion", "done", "end", "ended",
    "finish", "finished", "init",
}  # fmt: skip
_STAGE_PREFIXES = ("block:", "block_rq_", "block_bio_", "block_io_")
_OPERATION_WORDS = {
    "read": "read", "write": "write", "rd": "read", "wr": "write", "trim": "trim",
    "discard": "trim", "unmap": "trim", "flush": "flush",
}  # fmt: skip
_LETTERS = {"R": "read", "W": "write", "D": "trim", "F": "flush"}


# A column of more words names neither stages nor operations.
_MOST_WORDS = 16


def refuse_mixed_file(
    path: Path,
    columns: Columns,
    stated: Collection[int | None],
    rows_of: Callable[[Block], Block],
) -> None:
    """Refuse a file in whose first rows columns that are not stated hold stages or operations.

    Args:
        path: the file.
        columns: what was stated.
        stated: positions of the columns that are stated, from 0.
        rows_of: empties the lines of a block that do not count.
    """
    whole_lines = read_head(path).start.decode("utf-8", "replace").rpartition("\n")
    head = Block(path, 1, (whole_lines[0] or whole_lines[2]).encode())
    text = squeeze(rows_of(head).text, columns.separator).decode()
    rows = [line.split(columns.separator) for line in text.split("\n") if line]
    words = {
        (position + 1, ""): distinct(row[position] for row in rows if position < len(row))
        for position in range(max(map(len, rows), default=0))
        if position not in stated
    }
    refuse_mixed_rows(columns, words)


def distinct(words: Iterable[str]) -> list[str]:
    """Return the different words that are not empty, in their order; none if there are many."""
    found = [word for word in dict.fromkeys(words) if word]
    return found if len(found) <= _MOST_WORDS else []


def refuse_mixed_rows(
    columns: Columns,
    values: Mapping[tuple[int, str], Sequence[str]],
) -> None:
    """Refuse a table in which rows of several stages or operations would all count.

    Args:
        columns: what was stated.
        values: distinct values of the columns that were not stated, by number from 1 and name.

    Raises:
        WriteampError: such a column holds several stages of requests; or all rows are stated to be
            of one operation, and it names others.
    """
    for (number, name), words in values.items():
        column = f"column {number}" + (f" ({quoted(name)})" if name else "")
        if are_stages(words):
            raise spec_error(
                f"{column} holds {shortened(words)}, stages of a request, each of which would "
                f"count: state one, such as only={number}:{words[0]}, or only={number}:"
                f"{'/'.join(words)} to count all rows"
            )
        if columns.op.always and _are_other_operations(words, columns.op.always):
            meant = "/".join(f"{word}={_operation(word)}" for word in words)
            raise spec_error(
                f"op={columns.op.always} takes all rows for that, and {column} holds "
                f"{shortened(words)}: state op={number}:{meant}, or only={number}:…"
            )


def are_stages(words: Sequence[str]) -> bool:
    """Return whether different words are several stages of a request."""
    if set(words) <= _ACTIONS:
        return len(_STAGES & set(words)) > 1
    return len(words) > 1 and all(_bare(word) in _STAGE_WORDS for word in words)


def _bare(word: str) -> str:
    for prefix in _STAGE_PREFIXES:
        word = word.removeprefix(prefix)
    return word.removesuffix(":").lower()


def _are_other_operations(words: Sequence[str], always: str) -> bool:
    meanings = {_operation(word) for word in words}
    # A single letter may be anything; a read beside a write is not.
    is_sure = {"read", "write"} <= meanings or any(len(word) > 1 for word in words)
    return is_sure and meanings <= set(OPERATIONS) and meanings != {always}


def _operation(word: str) -> str | None:
    """Return the operation that a word, a letter or RWBS names; None if it is none of these."""
    if word.lower() in _OPERATION_WORDS:
        return _OPERATION_WORDS[word.lower()]
    if len(word) == 1:
        return _LETTERS.get(word.upper())
    is_rwbs = set(word[1:]) <= set("FASMBUE") and word[0] in _LETTERS
    return _LETTERS[word[0]] if is_rwbs else None
