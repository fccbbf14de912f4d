"""Differences of the counters in two snapshots of a drive, and reasons to reject them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from writeamp.drives.counters.amounts import Amount, Counter
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import CUT_END, CounterCheck, CounterFacts, Erases
from writeamp.units.durations import DAY_S

# If a counter rises by fewer units, its rounding is more than 1% of the interval.
FEW_UNITS = 100


@dataclass(frozen=True)
class SnapshotInterval:
    """Bytes written between two snapshots of a drive, and checks of the snapshots.

    Attributes:
        amounts: bytes or counts, by the key of each counter that both snapshots have.
        days: length of the interval in days; None if the times are unknown.
        is_powered_on: whether `days` count power-on time only, as the times are unknown or
            uncertain.
        checks: checks of the two snapshots.
        refusal: why the interval has no WA, or "".
        erases: erases of blocks in the interval, if both snapshots have them.
    """

    amounts: dict[tuple[str, ...], Amount]
    days: float | None
    checks: list[CounterCheck]
    refusal: str
    is_powered_on: bool = False
    erases: tuple[Erases, ...] = ()


def interval_between(start: CounterFacts, end: CounterFacts) -> SnapshotInterval:
    """Return the interval between the facts of two snapshots."""
    earlier = {counter.key: counter for counter in start.counters}
    both = [(earlier[counter.key], counter) for counter in end.counters if counter.key in earlier]
    clock = common_clock((start, end))
    is_powered_on = clock.is_powered_on
    days = (clock.seconds[1] - clock.seconds[0]) / DAY_S if clock.seconds else None
    checks = list(_same_drive(start, end))
    checks += [CounterCheck("time", "doubt", clock.doubt)] if clock.doubt else []
    if days is not None and days < 0:
        order = CounterCheck("order", "fail", _wrong_order(-days, is_powered_on=is_powered_on))
        refusal = "; ".join(check.evidence for check in [*checks, order] if check.verdict == "fail")
        return SnapshotInterval({}, days, [*checks, order], refusal, is_powered_on)
    checks += [*_resets(both), *_grain(both)]
    refusal = "; ".join(check.evidence for check in checks if check.verdict == "fail")
    amounts = {last.key: last.since(first) for first, last in both if not _fell(first, last)}
    checks += _appeared(start, end)
    checks += [check for check in start.checks if check.name == CUT_END]
    if not refusal and both and not amounts:
        refusal = "; ".join(check.evidence for check in checks if check.name == "no reset")
    scopes = [{counter.scope for counter in facts.counters} for facts in (start, end)]
    if not refusal and start.counters and end.counters and not both:
        refusal = (
            "the snapshots have no counter in common: the first has "
            f"{_labels(start)} of {', '.join(sorted(scopes[0]))}, the second {_labels(end)} of "
            f"{', '.join(sorted(scopes[1]))}"
        )
    erases = tuple(_erases_between(start, end))
    return SnapshotInterval(amounts, days, checks, refusal, is_powered_on, erases)


def _erases_between(start: CounterFacts, end: CounterFacts) -> Iterator[Erases]:
    """Yield the erases per block between two snapshots; counters that fell are left out."""
    earlier = {(erase.label, erase.part): erase for erase in start.erases}
    for last in end.erases:
        first = earlier.get((last.label, last.part))
        if first is not None and last.low >= first.low:
            least = max(last.low - first.high, 0.0)
            yield Erases(least, last.high - first.low, None, last.label, last.part)


def _wrong_order(days: float, *, is_powered_on: bool) -> str:
    clock = " powered on" if is_powered_on else ""
    return (
        f"the files are in the wrong order: the second is {days:,.4g} days{clock} older. Swap them"
    )


def _labels(facts: CounterFacts) -> str:
    return ", ".join(dict.fromkeys(counter.label for counter in facts.counters))


def _same_drive(start: CounterFacts, end: CounterFacts) -> Iterator[CounterCheck]:
    for field in ("serial", "model"):
        first, last = getattr(start, field), getattr(end, field)
        if first and last and first != last:
            yield CounterCheck(
                "same drive",
                "fail",
                f"the {field} differs: {first} in the first snapshot, {last} in the second",
            )
            return
    identity = "serial" if start.serial and end.serial else "model"
    is_known = getattr(start, identity) and getattr(end, identity)
    if is_known:
        yield CounterCheck(
            "same drive", "ok", f"both snapshots have the {identity} {getattr(end, identity)}"
        )
    else:
        yield CounterCheck(
            "same drive", "unknown", "neither the serial number nor the model is in both snapshots"
        )
    if start.firmware and end.firmware and start.firmware != end.firmware:
        yield CounterCheck(
            "same firmware",
            "doubt",
            f"{start.firmware}, then {end.firmware}: the update may have changed units",
        )


def fallen_counter(start: CounterFacts, end: CounterFacts) -> str:
    """Return the evidence that a counter of the whole drive fell between two snapshots, or ""."""
    earlier = {counter.key: counter for counter in start.counters}
    both = [(earlier[counter.key], counter) for counter in end.counters if counter.key in earlier]
    return next((check.evidence for check in _resets(both) if check.verdict == "fail"), "")


def _fell(first: Counter, last: Counter) -> bool:
    return last.count < first.count and not last.bits


def _resets(both: list[tuple[Counter, Counter]]) -> Iterator[CounterCheck]:
    for first, last in both:
        if _fell(first, last):
            yield CounterCheck(
                "no reset",
                # Counters of an endurance group may fall when FDP is switched on or off, so this is
                # only a doubt. Counters of the whole drive never fall.
                "fail" if last.scope == "drive" else "doubt",
                f"{last.label} fell from {first.count:,} to {last.count:,}: the counter was "
                "cleared (by a format, a firmware update, or switching FDP), or this is another "
                "drive",
            )


def _appeared(start: CounterFacts, end: CounterFacts) -> Iterator[CounterCheck]:
    """Yield a doubt about endurance group counters that only one of the snapshots has."""
    for present, gone, when in ((end, start, "second"), (start, end, "first")):
        sources = {counter.source for counter in gone.counters}
        labels = dict.fromkeys(
            counter.label
            for counter in present.counters
            if counter.scope != "drive" and counter.source not in sources
        )
        if labels:
            yield CounterCheck(
                "same counters",
                "doubt",
                f"{', '.join(labels)}: only the {when} snapshot has them; FDP was switched on "
                "or off, or the log was not read",
            )


def _grain(both: list[tuple[Counter, Counter]]) -> Iterator[CounterCheck]:
    for first, last in both:
        units = last.count - first.count
        if last.unit is not None and 0 <= units < FEW_UNITS and last.rounding != "exact":
            yield CounterCheck(
                "interval against granularity",
                "doubt",
                f"{last.label} rose by {units} units of {last.unit.name}, so its rounding is more "
                f"than 1% of the interval. Measure at least {FEW_UNITS} units "
                f"({float(FEW_UNITS * last.unit.nominal) / 1e9:.4g} GB)",
            )
