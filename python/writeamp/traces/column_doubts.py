"""Check of stated columns: rows of several stages or operations are refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from writeamp.traces.column_contents import are_stages, distinct, operations_in
from writeamp.traces.column_values import spec_error
from writeamp.traces.columns import Columns
from writeamp.traces.quoting import quoted, shortened
from writeamp.traces.rows import squeeze
from writeamp.traces.source import Block, read_head


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
        operations = operations_in(words) if columns.op.always else None
        # A single letter may be anything, and writes may all be "sync"; a read beside a write is
        # a sure sign.
        meanings = set() if operations is None else set(operations.values())
        is_sure = {"read", "write"} <= meanings or any(len(word) > 1 for word in words)
        if operations and is_sure and meanings not in ({columns.op.always}, {"flush"}):
            stated = "/".join(f"{word}={meaning}" for word, meaning in operations.items())
            raise spec_error(
                f"op={columns.op.always} takes all rows for that, and {column} holds "
                f"{shortened(words)}: state op={number}:{stated}, or only={number}:…"
            )
