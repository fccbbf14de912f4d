"""Write amplification by a drive's counters, over its life or an interval, with checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from writeamp.drives.counters.amounts import Amount, Counter
from writeamp.drives.counters.checks import (
    BELOW_ONE,
    SINCE_NEW,
    against_standard,
    agreement_checks,
    checks_of,
    estimated_wa,
    is_partial,
    unit_checks,
)
from writeamp.drives.counters.difference import Interval, interval_between
from writeamp.drives.counters.facts import CounterCheck, CounterFacts, Erases
from writeamp.drives.counters.pairing import DEFINITIONS, Amounts, Pairing, finest, pairings
from writeamp.drives.counters.result import Class, DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import unknown
from writeamp.results.numbers import at_least

if TYPE_CHECKING:
    pass

_NVME = (
    "take it with `writeamp measure save DEVICE`, or put the output of `nvme ocp smart-add-log -o "
    "json` (or the vendor's plugin) beside `nvme smart-log -o json` in one folder"
)
# Counts of pages that are only together what was programmed.
_PAGES = {"host pages": "background pages", "background pages": "host pages"}


def life_answer(snapshot: Snapshot, definition: str | None = None) -> DriveCounters:
    """Return the write amplification since a drive was new.

    Args:
        snapshot: of the drive.
        definition: which one to answer with; by default the first that applies.

    Raises:
        WriteampError: there is no such definition.
    """
    amounts = {one.key: one.amount() for one in snapshot.facts.counters}
    return _answer(snapshot, amounts, definition, None)


def interval_answer(
    before: Snapshot, after: Snapshot, definition: str | None = None
) -> DriveCounters:
    """Return the write amplification between two snapshots of a drive.

    Args:
        before, after: in this order.
        definition: which one to answer with; by default the first that applies.

    Raises:
        WriteampError: there is no such definition.
    """
    interval = interval_between(before.facts, after.facts)
    return _answer(after, interval.amounts, definition, interval)


def _answer(
    snapshot: Snapshot, amounts: Amounts, definition: str | None, interval: Interval | None
) -> DriveCounters:
    if definition is not None and definition not in DEFINITIONS:
        raise unknown("definition of WA", definition, DEFINITIONS)
    facts = snapshot.facts
    is_life = interval is None
    refusal = facts.refusal or ("" if interval is None else interval.refusal)
    judged = [
        _judged(pair, facts, is_life=is_life)
        for pair in ([] if refusal else pairings(facts.counters, amounts))
    ]
    of_host = [against_standard(facts.standard)] if facts.standard is not None and is_life else []
    checks = [
        *of_host,
        *agreement_checks([one.pair for one in judged]),
        *facts.checks,
        *([] if interval is None else interval.checks),
    ]
    erases = facts.erases if interval is None else interval.erases
    estimate = None if refusal else _estimate(replace(facts, erases=erases), amounts)
    rest: dict[str, Any] = {
        "definitions": tuple(map(_definition, judged)) + ((estimate,) if estimate else ()),
        "facts": facts,
        "name": snapshot.name,
        "days": None if interval is None else interval.days,
        "is_interval": interval is not None,
        "is_powered_on": interval is not None and interval.is_powered_on,
    }
    whole = next((one for one in judged if _answers(one, definition)), None)
    if whole is not None:
        low, wa, high = (float(one) for one in whole.pair.wa)
        return DriveCounters(
            wa=wa,
            wa_low=low,
            wa_high=high,
            wa_definition=whole.pair.definition,
            kind="measured",
            reason="",
            host=whole.pair.host,
            flash=whole.pair.flash,
            checks=(*whole.checks, *checks),
            source=whole.pair.source,
            **rest,
        )
    part = next((one for one in judged if _bounds(one, definition)), None)
    if part is not None:
        return DriveCounters(
            wa=None,
            wa_low=float(part.pair.wa.low),
            wa_high=None,
            wa_definition=part.pair.definition,
            kind="lower-bound",
            reason="; ".join(filter(None, (_failed(judged[:1]), _left_out(part.pair)))),
            host=part.pair.host,
            flash=None,
            checks=(*part.checks, *checks),
            source=part.pair.source,
            **rest,
        )
    is_estimated = estimate is not None and facts.estimates and not judged
    host_counter = finest((one for one in facts.counters if _is_host(one)), amounts)
    return DriveCounters(
        wa=None,
        wa_low=estimate["wa_low"] if estimate and is_estimated else None,
        wa_high=estimate["wa_high"] if estimate and is_estimated else None,
        wa_definition="erases" if is_estimated else None,
        kind="estimated" if is_estimated else "reported" if facts.reports_wa else "none",
        reason=refusal
        or _failed(judged[:1])
        or _no_definition(definition, judged)
        or missing_reason(snapshot, amounts, is_life=is_life)
        + ("" if estimate else missing_for_estimate(facts, erases, host_counter)),
        host=None if host_counter is None or refusal else amounts[host_counter.key],
        flash=None if judged or refusal else _flash(facts, amounts),
        checks=(*(judged[0].checks if judged else ()), *checks),
        source=", ".join(snapshot.sources),
        **rest,
    )


class _Judged(NamedTuple):
    """A pairing, its checks, and the class that they make it."""

    pair: Pairing
    checks: tuple[CounterCheck, ...]
    kind: Class


def _judged(pair: Pairing, facts: CounterFacts, *, is_life: bool) -> _Judged:
    checks = (*unit_checks(pair), *checks_of(pair, facts, is_life=is_life))
    failed = {one.name.removesuffix(SINCE_NEW) for one in checks if one.verdict == "fail"}
    if is_partial(pair, facts):
        return _Judged(pair, checks, "lower-bound" if failed <= {BELOW_ONE} else "none")
    return _Judged(pair, checks, "none" if failed else "measured")


def _answers(one: _Judged, definition: str | None) -> bool:
    """Return whether a pairing is the WA that is asked for; TLC alone is only if it is named."""
    is_asked = one.pair.definition in (definition, *(set(DEFINITIONS) - {"tlc"}))
    return one.kind == "measured" and definition in (None, one.pair.definition) and is_asked


def _bounds(one: _Judged, definition: str | None) -> bool:
    return one.kind != "none" and definition in (None, one.pair.definition)


def _left_out(pair: Pairing) -> str:
    low, wa, _ = (float(one) for one in pair.wa)
    said = "this drive's counter leaves out part of the flash (it counts "
    if low < 1:
        return f"{said}{wa:.2g} of what the host wrote)"
    return f"{said}{wa:.3g} times what the host wrote), so that WA is {at_least(low)}"


def _flash(facts: CounterFacts, amounts: Amounts) -> Amount | None:
    """Return the bytes that were programmed, of a drive whose host's counter is missing."""
    known = [one for one in facts.counters if one.side == "flash" and one.unit is not None]
    whole = finest((one for one in known if one.part == "all"), amounts)
    if whole is not None:
        return amounts[whole.key]
    parts = [finest((one for one in known if one.part == part), amounts) for part in ("tlc", "slc")]
    if None in parts:
        return None
    first, second = (amounts[one.key] for one in parts if one is not None)
    return first + second


def _is_host(counter: Any) -> bool:
    return counter.side == "host" and counter.unit is not None and counter.scope == "drive"


def _definition(one: _Judged) -> dict[str, Any]:
    low, wa, high = (float(bound) for bound in one.pair.wa)
    is_bound = one.kind == "lower-bound"
    return {
        "wa_definition": one.pair.definition,
        "class": one.kind,
        "wa": None if is_bound else wa,
        "wa_low": low,
        "wa_high": None if is_bound else high,
        "source": one.pair.source,
    }


def _estimate(facts: CounterFacts, amounts: Amounts) -> dict[str, Any] | None:
    host = finest((one for one in facts.counters if _is_host(one)), amounts)
    bounds = None if host is None else estimated_wa(facts, amounts[host.key])
    if bounds is None:
        return None
    return {
        "wa_definition": "erases",
        "class": "estimated",
        "wa": None,
        "wa_low": bounds[0],
        "wa_high": bounds[1],
        "source": f"{facts.erases[0].label} x capacity",
    }


def _failed(judged: Iterable[_Judged]) -> str:
    return "; ".join(
        f"{check.name}: {check.evidence}"
        for one in judged
        if one.kind == "none"
        for check in one.checks
        if check.verdict == "fail"
    )


def _no_definition(definition: str | None, judged: Iterable[_Judged]) -> str:
    names = ", ".join(dict.fromkeys(one.pair.definition for one in judged if one.kind != "none"))
    if not names:
        return ""
    return f"the counters do not give WA by {definition!r}; they give: {names}"


def missing_reason(snapshot: Snapshot, amounts: Amounts, *, is_life: bool) -> str:
    """Return the sentence that says which counter is missing."""
    facts = snapshot.facts
    counters = [one for one in facts.counters if one.key in amounts]
    hosts = [one for one in counters if one.side == "host"]
    flash = [one for one in counters if one.side == "flash"]
    if hosts and flash:
        return _undivided([*hosts, *flash], is_life=is_life)
    if facts.notes:
        return "; ".join(facts.notes)
    if flash:
        return (
            "there is no counter of the host: put `nvme smart-log -o json` of the same moment in "
            "one folder with it"
        )
    sources = ", ".join(snapshot.sources)
    return (
        f"no counter of flash writes in {sources}; {_NVME}"
        if hosts
        else (f"no counter of writes in {sources}")
    )


def missing_for_estimate(
    facts: CounterFacts, erases: Sequence[Erases], host: Counter | None
) -> str:
    """Return what an estimate by erases and capacity lacks; "" of drives that have none."""
    if not facts.estimates:
        return ""
    parts = (("mean erases", erases), ("capacity", facts.capacity_bytes), ("host writes", host))
    lacking = [name for name, value in parts if not value]
    return f", but there are no {' and no '.join(lacking)}" if lacking else ""


def _undivided(counters: Sequence[Counter], *, is_life: bool) -> str:
    """Return why counters of both sides are not divided."""
    if not is_life:
        return "nothing was written between the snapshots that their counters show"
    pages = {one.part: one.label for one in counters if one.part in _PAGES}
    if len(pages) == 1:
        ((part, label),) = pages.items()
        return f"{label} counts {part} only; the count of {_PAGES[part]} is missing or not readable"
    without = [one.label for one in counters if one.unit is None]
    if without:
        return (
            f"the unit of {', '.join(without)} is unknown; `writeamp measure calibrate` learns it "
            "by writing a known amount"
        )
    return "the counters are of different scopes, or the host has written nothing yet"
