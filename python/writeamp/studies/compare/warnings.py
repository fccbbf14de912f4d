"""Warnings on the rows of a comparison, each once for all rows that it applies to.

Rows of one load mostly have the same warnings with different numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from writeamp.results.numbers import as_one, kind_of
from writeamp.studies.compare.load import OneLoad
from writeamp.studies.compare.row import Row

# Maximum number of rows that a warning names.
_MOST_NAMES = 4


def warnings_of(loads: Sequence[OneLoad]) -> list[str]:
    """Return the warnings on rows, beginning with those on steadiness."""
    warnings = [
        f"the WA of {label} is not steady and may change in a longer run: {reason}"
        for label, _, reason in _grouped(loads, lambda row: "" if row.steady else row.steady_reason)
    ]
    warnings += _advice(loads)
    for sentence_of in (_rough, _error):
        warnings += [f"{label}: {sentence}" for label, _, sentence in _grouped(loads, sentence_of)]
    substitutes = (
        substitute for load in loads for row in load.rows[:1] for substitute in row.substitutes
    )
    warnings += dict.fromkeys(
        sentence for substitute in substitutes for sentence in substitute.warnings_of_drive()
    )
    of_drives = (
        sentence
        for load in loads
        for row in load.rows
        for result in row.results
        for sentence in result.warnings_of_the_drive
    )
    # All rows of a drive mostly give the same warnings on it, so each is shown once.
    return [*warnings, *dict.fromkeys(of_drives)]


def _rough(row: Row) -> str | None:
    return row.rough_warning


def _error(row: Row) -> str:
    return "; ".join(
        sentence for substitute in row.substitutes for sentence in substitute.warnings_of_wa(row.wa)
    )


def _advice(loads: Sequence[OneLoad]) -> list[str]:
    """Return advice for traces that have an unsteady row."""
    return list(
        dict.fromkeys(
            f"{load.name}: {sentence}" if len(loads) > 1 else sentence
            for load in loads
            for row in load.rows
            if not row.steady
            for result in row.results
            for sentence in result.advice
        )
    )


def _grouped(
    loads: Sequence[OneLoad], sentence_of: Callable[[Row], str | None]
) -> list[tuple[str, int, str]]:
    """Return sentences on rows; sentences that differ only in numbers become one."""
    groups: dict[str, list[tuple[OneLoad, Row, str]]] = {}
    for load in loads:
        for row in load.rows:
            if sentence := sentence_of(row):
                groups.setdefault(kind_of(sentence), []).append((load, row, sentence))
    rows_in_all = sum(len(load.rows) for load in loads)
    sentences_found = []
    for group in groups.values():
        if len(group) == rows_in_all > 1:
            sentences = [sentence for _, _, sentence in group]
            sentences_found.append((f"all {rows_in_all} rows", rows_in_all, as_one(sentences)))
            continue
        for load in loads:
            rows_of_load = [
                (row, sentence) for its_load, row, sentence in group if its_load is load
            ]
            if rows_of_load:
                rows = [row for row, _ in rows_of_load]
                label = _who(load, rows, several=len(loads) > 1)
                sentences_found.append(
                    (label, len(rows), as_one([sentence for _, sentence in rows_of_load]))
                )
    return sentences_found


def _who(load: OneLoad, rows: Sequence[Row], *, several: bool) -> str:
    if len(rows) == 1:
        return rows[0].name
    of_load = f" of {load.name}" if several else ""
    if len(rows) == len(load.rows):
        return f"all {len(rows)} rows{of_load}"
    return f"{len(rows)} rows{of_load} ({some_of([row.policy for row in rows])})"


def some_of(names: Sequence[str]) -> str:
    """Return the first of many names, and the number of remaining names.

    >>> some_of(["single", "sepgc", "dac", "sfs", "eti", "wolf"])
    'single, sepgc, dac, sfs and 2 more'
    """
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
