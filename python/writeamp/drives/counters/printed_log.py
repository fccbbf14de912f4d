"""Logs that tools print: which keys hold which counter, in which unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from writeamp.drives.counters.amounts import Counter, Part, Rounding, Side, Unit
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import CounterFacts, Erases
from writeamp.drives.counters.printed import PrintedCount, PrintedEntry, count_of, entries

Entries: TypeAlias = Mapping[str, tuple[PrintedEntry, ...]]

# What a counter holds that is not kept.
_ALL_ONES = frozenset((1 << bits) - 1 for bits in (48, 64, 128))
# Above, a sum of counts cannot be one of a drive.
_HALF_BITS = 64
# Characters that are searched for the text of a log.
_HEAD = 1 << 16
_LAST = re.compile(r"(\d[\d,]*)\s*$")
_TENTHS = re.compile(r"(\d{1,30})[.,](\d)\s*GiB")


def _tenths(value: Any) -> PrintedCount | None:
    match = _TENTHS.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    count = int(match[1] + match[2])
    return PrintedCount(count, count)


def _hexadecimal(value: Any) -> PrintedCount | None:
    is_hexadecimal = isinstance(value, str) and value.strip().lower().startswith("0x")
    return count_of(value) if is_hexadecimal else None


def _last(value: Any) -> PrintedCount | None:
    """Return the count behind "100%       sectors: "."""
    if isinstance(value, str) and "%" in value:
        match = _LAST.search(value)
        return count_of(match[1]) if match else None
    return count_of(value)


# Readers of printed values.
VALUES: dict[str, Callable[[Any], PrintedCount | None]] = {
    "count": count_of,
    "hexadecimal": _hexadecimal,
    "last after %": _last,
    "tenths of GiB": _tenths,
}


class WriteRule(NamedTuple):
    """Counter of writes in a printed log.

    Attributes:
        side, part, rounding: of the counter.
        keys: that may hold it; all of those that are there, if `sums`.
        unit: None if unknown, and then `shared` names what its sides share.
        high_keys: of the high 64 bits.
        read: the count in a printed value.
    """

    side: Side
    keys: tuple[str, ...]
    unit: Unit | None = None
    part: Part = "all"
    rounding: Rounding = "exact"
    shared: str = ""
    sums: bool = False
    high_keys: tuple[str, ...] = ()
    read: Callable[[Any], PrintedCount | None] = count_of


class Worn(NamedTuple):
    """Erases of blocks in a printed log, by the keys of the least, the most and their mean."""

    least: tuple[str, ...]
    most: tuple[str, ...]
    mean: tuple[str, ...] = ()
    part: Part = "all"


class Sign(NamedTuple):
    """Keys that identify a log: one of them, with a value that begins with the pattern."""

    keys: tuple[str, ...]
    value: re.Pattern[str] | None = None

    def is_in(self, found: Entries) -> bool:
        """Return whether a document has it."""
        said = [one for key in self.keys for one in found.get(key, ())]
        if self.value is None:
            return bool(said)
        return any(self.value.match(str(one.value).strip()) for one in said)


@dataclass(frozen=True)
class PrintedLog:
    """A log of one vendor, or of several that print the same.

    Attributes:
        name: of the tool's verb.
        label: of the log.
        written: its counters.
        worn: its erases.
        notes: sentences about it.
        signs: of which one identifies it, or only all of them if `all_signs`.
        text: pattern of a text that identifies it as well, or None.
        vetoes: keys of other logs that have the same signs.
        unsupported: counts that mean that the drive does not count.
        reports: pattern of keys under which the drive prints its own WA, or None.
    """

    name: str
    label: str
    written: tuple[WriteRule, ...] = ()
    worn: tuple[Worn, ...] = ()
    notes: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()
    all_signs: bool = False
    text: re.Pattern[str] | None = None
    vetoes: tuple[str, ...] = ()
    unsupported: frozenset[int] = frozenset()
    reports: re.Pattern[str] | None = None

    def matches(self, document: Document) -> bool:
        """Return whether a document is such a log."""
        if self.text is not None and self.text.search(document.text[:_HEAD]):
            return True
        found = entries(document)
        if not self.signs or any(key in found for key in self.vetoes):
            return False
        return (all if self.all_signs else any)(one.is_in(found) for one in self.signs)


def printed_facts(log: PrintedLog, found: Entries) -> CounterFacts:
    """Return the facts of a printed log."""
    counters: list[Counter] = []
    notes: list[str] = []
    for one in log.written:
        for said in _counter(log, one, found):
            if isinstance(said, Counter):
                counters.append(said)
            else:
                notes.append(said)
    notes += log.notes
    reports = log.reports is not None and any(log.reports.search(key) for key in found)
    if reports:
        notes.append("the scale of its write amplification factor is not published")
    return CounterFacts(
        source=log.name,
        counters=tuple(counters),
        erases=tuple(_erases(log, found)),
        reports_wa=reports,
        notes=tuple(notes),
    )


def _counter(log: PrintedLog, rule: WriteRule, found: Entries) -> Iterator[Counter | str]:
    keys = [key for key in rule.keys if key in found]
    if not keys:
        return
    if rule.sums and len(keys) < len(rule.keys):
        lacking = ", ".join(key for key in rule.keys if key not in found)
        yield f"{log.label} lacks {lacking.replace('_', ' ')}: what is left is a part of the writes"
        return
    keys = keys if rule.sums else keys[:1]
    label = f"{log.label}, {keys[0].replace('_', ' ')}"
    counts = []
    for key in keys:
        said = _count(rule, found[key])
        if isinstance(said, str):
            yield f"{label} {said}"
            return
        counts.append(said)
    low, high = sum(one.low for one in counts), sum(one.high for one in counts)
    if rule.high_keys:
        above = next((found[key] for key in rule.high_keys if key in found), None)
        said = "is cut off: its high half is missing" if above is None else _count(rule, above)
        if isinstance(said, str):
            yield f"{label} {said}"
            return
        low, high = (said.low << _HALF_BITS) + low, (said.high << _HALF_BITS) + high
    if low in _ALL_ONES or low in log.unsupported:
        yield f"{label} is {low:,}, which is what a counter holds that is not kept"
    elif high == 0:
        normalized = found[keys[0]][0].normalized
        yield f"{label} is 0{'' if normalized is None else f' (normalized {normalized})'}: the \
drive does not support it"
    else:
        yield Counter(
            rule.side,
            low,
            rule.unit,
            label,
            log.label,
            part=rule.part,
            rounding=rule.rounding,
            shared=rule.shared,
            count_high=high if high > low else None,
        )


def _count(rule: WriteRule, said: tuple[PrintedEntry, ...]) -> PrintedCount | str:
    """Return the count of a key, or what is wrong with it."""
    found = dict.fromkeys(rule.read(one.value) for one in said)
    if len(found) > 1:
        shown = " and ".join(str(one.value)[:40] for one in said[:2])
        return f"stands there {len(said)} times ({shown}): give the log of one drive at one moment"
    count = next(iter(found))
    return f"is {str(said[0].value)[:60]!r}, which is no count" if count is None else count


def _erases(log: PrintedLog, found: Entries) -> Iterator[Erases]:
    for one in log.worn:
        least, most, mean = (
            next((count_of(found[key][0].value) for key in keys if key in found), None)
            for keys in (one.least, one.most, one.mean)
        )
        label = f"{log.label}, erase counts"
        if mean is not None and mean.low:
            yield Erases(mean.low, mean.high + 1, most.high if most else None, label, one.part)
        elif least is not None and most is not None and least.low <= most.high and most.high:
            yield Erases(least.low, most.high, most.high, label, one.part)
