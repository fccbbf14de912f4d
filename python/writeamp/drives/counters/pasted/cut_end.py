"""End of a pasted text: a value without a line end may have lost its last digits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from writeamp.drives.counters.document import whole
from writeamp.drives.counters.facts import CUT_END, CounterCheck, CounterFacts
from writeamp.drives.counters.sources.smartctl_text import ROW, raw_value

_LAST_LINE = re.compile(r"[^\n]{0,2000}\Z")
_ENDS = re.compile(r"(?:0x[0-9a-fA-F]+|\d[\d,.'_ ]*(?:e\+?\d+)?)\Z")
_LAST_DIGITS = re.compile(r"\d+\Z")
_HOURS_ID = 9


def with_cut_end(found: Sequence[CounterFacts], text: str) -> list[CounterFacts]:
    """Return the facts of a text, with a doubt if the number at its end is one of their values.

    Args:
        found: of the last log in the text.
        text: of the log, without a line end.
    """
    last = _LAST_LINE.search(text, max(0, len(text) - 2000))
    line = last[0] if last else ""
    number = _ENDS.search(line)
    if number is None:
        return list(found)
    checked = list(found)
    for place in reversed(range(len(checked))):
        names = list(dict.fromkeys(_values_at(line, number[0], checked[place])))
        if names:
            evidence = (
                f"the text ends with {number[0].strip()}, {' and '.join(names)}, without the end "
                "of the line: if the paste was cut there, digits are missing"
            )
            check = CounterCheck(CUT_END, "doubt", evidence)
            checked[place] = replace(checked[place], checks=(*checked[place].checks, check))
            break
    return checked


def _values_at(line: str, number: str, facts: CounterFacts) -> Iterator[str]:
    """Yield the names of the values that the last line ends with."""
    row = ROW.match(line)
    labels = {f"attribute {whole(row['id'])}"} if row else _labels(number, facts)
    is_hours = whole(row["id"]) == _HOURS_ID if row else "hours" in line.lower()
    is_used = any(f"{label}," in facts.used_label for label in labels) if row else (
        "percent" in line.lower()
    )  # fmt: skip
    counts = {raw_value(row["raw"])} if row else _counts(number)
    for one in facts.counters:
        of_row = any(re.search(rf"\b{label[10:]}\Z|{label}\b", one.label) for label in labels)
        if of_row or (not row and {one.count, one.count_high} & counts - {0}):
            yield one.label
    yield from (one.label for one in facts.erases if one.label in labels)
    if is_hours and facts.power_on_hours in counts:
        yield "power-on hours"
    if is_used and facts.percentage_used is not None:
        yield "percentage used"


def _labels(number: str, facts: CounterFacts) -> set[str]:
    """Return the attributes with a raw value, for logs without rows such as CSV."""
    counts = _counts(number) - {0}
    return {label for label, raw in facts.raws if raw in counts}


def _counts(number: str) -> set[int | None]:
    """Return the counts that a number at the end of a line may be."""
    last = _LAST_DIGITS.search(number)
    try:
        scientific = whole(float(number)) if "e" in number and "x" not in number else None
    except ValueError:
        scientific = None
    digits = "".join(one for one in number if one.isdigit())
    counts = {scientific, whole(last[0]) if last else None}
    return counts | {whole(number.strip() if number.startswith("0x") else digits)}
