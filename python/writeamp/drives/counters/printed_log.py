"""Logs that tools print: which keys hold which counter, in which unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from writeamp.drives.counters.amounts import Counter, FlashPart, Rounding, Side, Unit
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import CounterFacts, Erases
from writeamp.drives.counters.printed import PrintedCount, PrintedEntry, count_of, entries

Entries: TypeAlias = Mapping[str, tuple[PrintedEntry, ...]]

# Values that drives report for a counter that they do not support: all bits are 1.
_ALL_ONES = frozenset((1 << bits) - 1 for bits in (48, 64, 128))
# Number of bits of each half of a 128-bit count.
_HALF_BITS = 64
# Number of characters that are searched for the text of a log.
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
    """Return the count after "100%       sectors: "."""
    if isinstance(value, str) and "%" in value:
        match = _LAST.search(value)
        return count_of(match[1]) if match else None
    return count_of(value)


# Readers of printed values, by name.
VALUES: dict[str, Callable[[Any], PrintedCount | None]] = {
    "count": count_of,
    "hexadecimal": _hexadecimal,
    "last after %": _last,
    "tenths of GiB": _tenths,
}


class WriteRule(NamedTuple):
    """Rule of a write counter in a printed log.

    Attributes:
        side, part, rounding: fields of the counter.
        keys: keys of the counter, of which the first present one is used; if `sums`, all are added.
        unit: None if unknown; then `shared` is the name of the unknown unit.
        high_keys: keys of the high 64 bits of the counter.
        read: reader of the printed value.
    """

    side: Side
    keys: tuple[str, ...]
    unit: Unit | None = None
    part: FlashPart = "all"
    rounding: Rounding = "exact"
    shared: str = ""
    sums: bool = False
    high_keys: tuple[str, ...] = ()
    read: Callable[[Any], PrintedCount | None] = count_of


class EraseKeys(NamedTuple):
    """Erases per block in a printed log: keys of the minimum, the maximum and the mean."""

    least: tuple[str, ...]
    most: tuple[str, ...]
    mean: tuple[str, ...] = ()
    part: FlashPart = "all"


class Sign(NamedTuple):
    """Sign that identifies a log: one of these keys, with a value that starts with the pattern."""

    keys: tuple[str, ...]
    value: re.Pattern[str] | None = None

    def is_in(self, logged: Entries) -> bool:
        """Return whether the entries of a document have this sign."""
        values = [entry for key in self.keys for entry in logged.get(key, ())]
        if self.value is None:
            return bool(values)
        return any(self.value.match(str(entry.value).strip()) for entry in values)


@dataclass(frozen=True)
class PrintedLog:
    """Log of one vendor, or of several vendors with the same layout.

    Attributes:
        name: subcommand of nvme-cli that prints the log.
        label: label of the log, for messages.
        written: rules of its counters.
        worn: rules of its erases.
        notes: sentences about the log.
        signs: signs that identify the log: any one of them, or if `all_signs`, all of them
            together.
        text: pattern of a text that also identifies it, or None.
        vetoes: keys that only other logs with the same signs have; a document with one of them does
            not match.
        unsupported: values that mean that the drive does not support the counter.
        reports: pattern of keys with the drive's own WA, or None.
    """

    name: str
    label: str
    written: tuple[WriteRule, ...] = ()
    worn: tuple[EraseKeys, ...] = ()
    notes: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()
    all_signs: bool = False
    text: re.Pattern[str] | None = None
    vetoes: tuple[str, ...] = ()
    unsupported: frozenset[int] = frozenset()
    reports: re.Pattern[str] | None = None

    def matches(self, document: Document) -> bool:
        """Return whether a document is a log of this type."""
        if self.text is not None and self.text.search(document.text[:_HEAD]):
            return True
        logged = entries(document)
        if not self.signs or any(key in logged for key in self.vetoes):
            return False
        return (all if self.all_signs else any)(sign.is_in(logged) for sign in self.signs)


def printed_facts(log: PrintedLog, logged: Entries) -> CounterFacts:
    """Return the facts of a printed log."""
    counters: list[Counter] = []
    notes: list[str] = []
    for rule in log.written:
        for counter in _counter(log, rule, logged):
            if isinstance(counter, Counter):
                counters.append(counter)
            else:
                notes.append(counter)
    notes += log.notes
    reports = log.reports is not None and any(log.reports.search(key) for key in logged)
    if reports:
        notes.append(
            "the drive reports its own write amplification factor, but the scale of this number "
            "is not published, so it is not used"
        )
    return CounterFacts(
        source=log.name,
        counters=tuple(counters),
        erases=tuple(_erases(log, logged)),
        reports_wa=reports,
        notes=tuple(notes),
    )


def _counter(log: PrintedLog, rule: WriteRule, logged: Entries) -> Iterator[Counter | str]:
    keys = [key for key in rule.keys if key in logged]
    if not keys:
        return
    if rule.sums and len(keys) < len(rule.keys):
        lacking = ", ".join(key for key in rule.keys if key not in logged)
        yield (
            f"{log.label} lacks {lacking.replace('_', ' ')}, so its other counters give only part "
            "of the writes"
        )
        return
    keys = keys if rule.sums else keys[:1]
    label = f"{log.label}, {keys[0].replace('_', ' ')}"
    counts = []
    for key in keys:
        count = _count(rule, logged[key])
        if isinstance(count, str):
            yield f"{label} {count}"
            return
        counts.append(count)
    low, high = sum(count.low for count in counts), sum(count.high for count in counts)
    if rule.high_keys:
        above = next((logged[key] for key in rule.high_keys if key in logged), None)
        count = (
            "is incomplete: its high 64 bits are missing" if above is None else _count(rule, above)
        )
        if isinstance(count, str):
            yield f"{label} {count}"
            return
        low, high = (count.low << _HALF_BITS) + low, (count.high << _HALF_BITS) + high
    if low in _ALL_ONES or low in log.unsupported:
        yield f"{label} is {low:,}: the drive does not maintain this counter"
    elif high == 0:
        normalized = logged[keys[0]][0].normalized
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


def _count(rule: WriteRule, values: tuple[PrintedEntry, ...]) -> PrintedCount | str:
    """Return the count that a log has under a key, or a sentence on the error in it."""
    counts = dict.fromkeys(rule.read(entry.value) for entry in values)
    if len(counts) > 1:
        shown = " and ".join(str(entry.value)[:40] for entry in values[:2])
        return f"appears {len(values)} times ({shown}): pass the log of one drive at one moment"
    count = next(iter(counts))
    return f"is {str(values[0].value)[:60]!r}, which is not a count" if count is None else count


def _erases(log: PrintedLog, logged: Entries) -> Iterator[Erases]:
    for rule in log.worn:
        least, most, mean = (
            next((count_of(logged[key][0].value) for key in keys if key in logged), None)
            for keys in (rule.least, rule.most, rule.mean)
        )
        label = f"{log.label}, erase counts"
        if mean is not None and mean.low:
            yield Erases(mean.low, mean.high + 1, most.high if most else None, label, rule.part)
        elif least is not None and most is not None and least.low <= most.high and most.high:
            yield Erases(least.low, most.high, most.high, label, rule.part)
