"""Differences of the counters of two snapshots of one drive, and what forbids to take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from writeamp.drives.counters.amounts import Amount, Counter
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import CUT_END, CounterCheck, CounterFacts, Erases

_DAY_S = 86_400.0
# An interval of fewer units of a counter is known to a per cent at best.
FEW_UNITS = 100


@dataclass(frozen=True)
class Interval:
    """Amounts between two snapshots.

    Attributes:
        amounts: by the keys of the counters that both have.
        days: between them; None if the times are unknown.
        is_powered_on: these are days of power-on hours, as no clock says more.
        checks: of the two snapshots.
        refusal: why there is no WA of the interval; "" if nothing forbids it.
        erases: of blocks between the two, where both say them.
    """

    amounts: dict[tuple[str, ...], Amount]
    days: float | None
    checks: list[CounterCheck]
    refusal: str
    is_powered_on: bool = False
    erases: tuple[Erases, ...] = ()


def interval_between(before: CounterFacts, after: CounterFacts) -> Interval:
    """Return the interval between two snapshots' facts."""
    earlier = {one.key: one for one in before.counters}
    both = [(earlier[one.key], one) for one in after.counters if one.key in earlier]
    clock = common_clock((before, after))
    is_powered_on = clock.is_powered_on
    days = (clock.seconds[1] - clock.seconds[0]) / _DAY_S if clock.seconds else None
    checks = list(_same_drive(before, after))
    checks += [CounterCheck("time", "doubt", clock.doubt)] if clock.doubt else []
    if days is not None and days < 0:
        order = CounterCheck("order", "fail", _wrong_order(-days, is_powered_on=is_powered_on))
        refusal = "; ".join(one.evidence for one in [*checks, order] if one.verdict == "fail")
        return Interval({}, days, [*checks, order], refusal, is_powered_on)
    checks += [*_resets(both), *_grain(both)]
    refusal = "; ".join(one.evidence for one in checks if one.verdict == "fail")
    amounts = {last.key: last.since(first) for first, last in both if not _fell(first, last)}
    checks += _appeared(before, after)
    checks += [one for one in before.checks if one.name == CUT_END]
    if not refusal and both and not amounts:
        refusal = "; ".join(one.evidence for one in checks if one.name == "no reset")
    scopes = [{one.scope for one in facts.counters} for facts in (before, after)]
    if not refusal and before.counters and after.counters and not both:
        refusal = (
            "the snapshots have no counter in common: the first has "
            f"{_labels(before)} of {', '.join(sorted(scopes[0]))}, the second {_labels(after)} of "
            f"{', '.join(sorted(scopes[1]))}"
        )
    erases = tuple(_erases_between(before, after))
    return Interval(amounts, days, checks, refusal, is_powered_on, erases)


def _erases_between(before: CounterFacts, after: CounterFacts) -> Iterator[Erases]:
    """Yield the erases between two snapshots; those of a counter that fell are none."""
    earlier = {(one.label, one.part): one for one in before.erases}
    for last in after.erases:
        first = earlier.get((last.label, last.part))
        if first is not None and last.low >= first.low:
            least = max(last.low - first.high, 0.0)
            yield Erases(least, last.high - first.low, None, last.label, last.part)


def _wrong_order(days: float, *, is_powered_on: bool) -> str:
    of = " powered on" if is_powered_on else ""
    return (
        f"the files are in the wrong order: the second is the earlier, by {days:,.4g} days{of}; "
        "give it first"
    )


def _labels(facts: CounterFacts) -> str:
    return ", ".join(dict.fromkeys(one.label for one in facts.counters))


def _same_drive(before: CounterFacts, after: CounterFacts) -> Iterator[CounterCheck]:
    for what in ("serial", "model"):
        first, last = getattr(before, what), getattr(after, what)
        if first and last and first != last:
            yield CounterCheck("same drive", "fail", f"the {what} is another: {first}, then {last}")
            return
    known = "serial" if before.serial and after.serial else "model"
    is_known = getattr(before, known) and getattr(after, known)
    if is_known:
        yield CounterCheck("same drive", "ok", f"both say {known} {getattr(after, known)}")
    else:
        yield CounterCheck("same drive", "unknown", "no serial or model in both")
    if before.firmware and after.firmware and before.firmware != after.firmware:
        yield CounterCheck(
            "same firmware",
            "doubt",
            f"{before.firmware}, then {after.firmware}: units may have changed with it",
        )


def _fell(first: Counter, last: Counter) -> bool:
    return last.count < first.count and not last.bits


def _resets(both: list[tuple[Counter, Counter]]) -> Iterator[CounterCheck]:
    for first, last in both:
        if _fell(first, last):
            yield CounterCheck(
                "no reset",
                # Counters of a group fall when FDP is switched; those of the drive go on.
                "fail" if last.scope == "drive" else "doubt",
                f"{last.label} fell from {first.count:,} to {last.count:,}: it was cleared (a "
                "format, an update, FDP switched), or this is another drive",
            )


def _appeared(before: CounterFacts, after: CounterFacts) -> Iterator[CounterCheck]:
    """Yield the counters of groups that one snapshot has only: FDP was switched."""
    for kept, gone, when in ((after, before, "second"), (before, after, "first")):
        sources = {one.source for one in gone.counters}
        labels = dict.fromkeys(
            one.label for one in kept.counters if one.scope != "drive" and one.source not in sources
        )
        if labels:
            yield CounterCheck(
                "same counters",
                "doubt",
                f"{', '.join(labels)}: only the {when} snapshot counts; FDP was switched, or the "
                "log was not read",
            )


def _grain(both: list[tuple[Counter, Counter]]) -> Iterator[CounterCheck]:
    for first, last in both:
        units = last.count - first.count
        if last.unit is not None and 0 <= units < FEW_UNITS and last.rounding != "exact":
            yield CounterCheck(
                "interval against granularity",
                "doubt",
                f"{last.label} moved by {units} units of {last.unit.name}; {FEW_UNITS} units are "
                f"{float(FEW_UNITS * last.unit.nominal) / 1e9:.4g} GB",
            )
