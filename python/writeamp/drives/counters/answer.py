"""Write amplification from a drive's counters, over its life or an interval, with checks."""

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
from writeamp.drives.counters.difference import SnapshotInterval, interval_between
from writeamp.drives.counters.facts import CounterCheck, CounterFacts, Erases
from writeamp.drives.counters.pairing import DEFINITIONS, Amounts, Pairing, finest, pairings
from writeamp.drives.counters.rated import rated_use
from writeamp.drives.counters.result import Class, DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import unknown
from writeamp.results.numbers import at_least

if TYPE_CHECKING:
    pass

# Beginnings of reasons for a missing WA that many drives share.
NO_FLASH_COUNTER = "no counter of flash writes in"
NO_HOST_COUNTER = "the host counter is missing"
_NVME = (
    "read the drive with `writeamp measure save DEVICE`, or put the output of `nvme ocp "
    "smart-add-log -o json` (or the vendor's plugin) and `nvme smart-log -o json` into one folder"
)
# Flash counters of pages by cause, each with its counterpart. Programmed pages are the sum of both
# counters.
_PAGES = {"host pages": "background pages", "background pages": "host pages"}


def life_answer(
    snapshot: Snapshot, definition: str | None = None, rated_tbw: float | None = None
) -> DriveCounters:
    """Return the write amplification since a drive was new.

    Args:
        snapshot: snapshot of the drive.
        definition: definition of WA; default: the first that the counters support.
        rated_tbw: rated endurance in TB; default: that of the model, if it has a rating.

    Raises:
        WriteampError: the definition is unknown.
    """
    amounts = {counter.key: counter.amount() for counter in snapshot.facts.counters}
    return rated(_answer(snapshot, amounts, definition, None), rated_tbw)


def rated(answer: DriveCounters, rated_tbw: float | None = None) -> DriveCounters:
    """Return an answer of a drive's life with its rated endurance, and the used share of it.

    Args:
        answer: write amplification since the drive was new.
        rated_tbw: rated endurance in TB; default: that of the model, if it has a rating.
    """
    use = rated_use(answer.facts, answer.host, answer.checks, rated_tbw)
    return replace(answer, **use._asdict())


def interval_answer(
    earlier: Snapshot, after: Snapshot, definition: str | None = None
) -> DriveCounters:
    """Return the write amplification between two snapshots of a drive.

    Args:
        earlier, after: the earlier and the later snapshot.
        definition: definition of WA; default: the first that the counters support.

    Raises:
        WriteampError: the definition is unknown.
    """
    interval = interval_between(earlier.facts, after.facts)
    return _answer(after, interval.amounts, definition, interval)


def _answer(
    snapshot: Snapshot, amounts: Amounts, definition: str | None, interval: SnapshotInterval | None
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
        *agreement_checks([pairing.pair for pairing in judged]),
        *facts.checks,
        *([] if interval is None else interval.checks),
    ]
    erases = facts.erases if interval is None else interval.erases
    estimate = None if refusal else _estimate(replace(facts, erases=erases), amounts)
    common_fields: dict[str, Any] = {
        "definitions": tuple(map(_definition, judged)) + ((estimate,) if estimate else ()),
        "facts": facts,
        "name": snapshot.name,
        "days": None if interval is None else interval.days,
        "is_interval": interval is not None,
        "is_powered_on": interval is not None and interval.is_powered_on,
    }
    complete = next((pairing for pairing in judged if _answers(pairing, definition)), None)
    if complete is not None:
        low, wa, high = (float(bound) for bound in complete.pair.wa)
        return DriveCounters(
            wa=wa,
            wa_low=low,
            wa_high=high,
            wa_definition=complete.pair.definition,
            kind="measured",
            reason="",
            host=complete.pair.host,
            flash=complete.pair.flash,
            checks=(*complete.checks, *checks),
            source=complete.pair.source,
            **common_fields,
        )
    partial = next((pairing for pairing in judged if _bounds(pairing, definition)), None)
    if partial is not None:
        return DriveCounters(
            wa=None,
            wa_low=float(partial.pair.wa.low),
            wa_high=None,
            wa_definition=partial.pair.definition,
            kind="lower-bound",
            reason="; ".join(filter(None, (_failed(judged[:1]), _left_out(partial.pair)))),
            host=partial.pair.host,
            flash=None,
            checks=(*partial.checks, *checks),
            source=partial.pair.source,
            **common_fields,
        )
    is_estimated = estimate is not None and facts.estimates and not judged
    host_counter = finest((counter for counter in facts.counters if _is_host(counter)), amounts)
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
        **common_fields,
    )


class _JudgedPairing(NamedTuple):
    """Pairing of host and flash counters, its checks, and the kind of WA result they allow."""

    pair: Pairing
    checks: tuple[CounterCheck, ...]
    kind: Class


def _judged(pair: Pairing, facts: CounterFacts, *, is_life: bool) -> _JudgedPairing:
    checks = (*unit_checks(pair), *checks_of(pair, facts, is_life=is_life))
    failed = {check.name.removesuffix(SINCE_NEW) for check in checks if check.verdict == "fail"}
    if is_partial(pair, facts):
        return _JudgedPairing(pair, checks, "lower-bound" if failed <= {BELOW_ONE} else "none")
    return _JudgedPairing(pair, checks, "none" if failed else "measured")


def _answers(pairing: _JudgedPairing, definition: str | None) -> bool:
    """Return whether a pairing may be the answer; WA of TLC alone must be selected by name."""
    is_asked = pairing.pair.definition in (definition, *(set(DEFINITIONS) - {"tlc"}))
    return pairing.kind == "measured" and definition in (None, pairing.pair.definition) and is_asked


def _bounds(pairing: _JudgedPairing, definition: str | None) -> bool:
    return pairing.kind != "none" and definition in (None, pairing.pair.definition)


def _left_out(pair: Pairing) -> str:
    low, wa, _ = (float(bound) for bound in pair.wa)
    counted = f"{wa:.2g}" if low < 1 else f"{wa:.3g}"
    text = (
        "this drive's flash counter leaves out part of the flash (it counts "
        f"{counted} times the host writes)"
    )
    return text if low < 1 else f"{text}. WA is {at_least(low)}"


def _flash(facts: CounterFacts, amounts: Amounts) -> Amount | None:
    """Return the bytes programmed into the flash, for a drive without a host counter."""
    counters = [
        counter
        for counter in facts.counters
        if counter.side == "flash" and counter.unit is not None
    ]
    complete = finest((counter for counter in counters if counter.part == "all"), amounts)
    if complete is not None:
        return amounts[complete.key]
    parts = [
        finest((counter for counter in counters if counter.part == cell), amounts)
        for cell in ("tlc", "slc")
    ]
    if None in parts:
        return None
    first, second = (amounts[counter.key] for counter in parts if counter is not None)
    return first + second


def _is_host(counter: Any) -> bool:
    return counter.side == "host" and counter.unit is not None and counter.scope == "drive"


def _definition(pairing: _JudgedPairing) -> dict[str, Any]:
    low, wa, high = (float(bound) for bound in pairing.pair.wa)
    is_bound = pairing.kind == "lower-bound"
    return {
        "wa_definition": pairing.pair.definition,
        "class": pairing.kind,
        "wa": None if is_bound else wa,
        "wa_low": low,
        "wa_high": None if is_bound else high,
        "source": pairing.pair.source,
    }


def _estimate(facts: CounterFacts, amounts: Amounts) -> dict[str, Any] | None:
    host = finest((counter for counter in facts.counters if _is_host(counter)), amounts)
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


def _failed(judged: Iterable[_JudgedPairing]) -> str:
    return "; ".join(
        f"{check.name}: {check.evidence}"
        for pairing in judged
        if pairing.kind == "none"
        for check in pairing.checks
        if check.verdict == "fail"
    )


def _no_definition(definition: str | None, judged: Iterable[_JudgedPairing]) -> str:
    names = ", ".join(
        dict.fromkeys(pairing.pair.definition for pairing in judged if pairing.kind != "none")
    )
    if not names:
        return ""
    return f"the counters do not support WA by {definition!r}. Supported: {names}"


def missing_reason(snapshot: Snapshot, amounts: Amounts, *, is_life: bool) -> str:
    """Return a sentence on why there is no WA, such as the name of a missing counter."""
    facts = snapshot.facts
    counters = [counter for counter in facts.counters if counter.key in amounts]
    hosts = [counter for counter in counters if counter.side == "host"]
    flash = [counter for counter in counters if counter.side == "flash"]
    if hosts and flash:
        return _undivided([*hosts, *flash], is_life=is_life)
    if facts.notes:
        return "; ".join(facts.notes)
    if flash:
        return (
            f"{NO_HOST_COUNTER}. Put the output of `nvme smart-log -o json` from the same moment "
            "into the same folder"
        )
    sources = ", ".join(snapshot.sources)
    return (
        f"{NO_FLASH_COUNTER} {sources}; {_NVME}"
        if hosts
        else (f"no counter of writes in {sources}")
    )


def missing_for_estimate(
    facts: CounterFacts, erases: Sequence[Erases], host: Counter | None
) -> str:
    """Return a clause that names the data missing for an estimate of WA from erases, or ""."""
    if not facts.estimates:
        return ""
    parts = (("mean erases", erases), ("capacity", facts.capacity_bytes), ("host writes", host))
    lacking = [name for name, value in parts if not value]
    return f", but {' and '.join(lacking)} are missing" if lacking else ""


def _undivided(counters: Sequence[Counter], *, is_life: bool) -> str:
    """Return why host and flash counters cannot be divided."""
    if not is_life:
        return "the counters show no writes between the snapshots"
    pages = {counter.part: counter.label for counter in counters if counter.part in _PAGES}
    if len(pages) == 1:
        ((cause, label),) = pages.items()
        return (
            f"{label} counts {cause} only; the count of {_PAGES[cause]} is missing or not readable"
        )
    without = [counter.label for counter in counters if counter.unit is None]
    if without:
        return (
            f"the unit of {', '.join(without)} is unknown. Measure it with `writeamp measure "
            "calibrate`, which writes a known amount"
        )
    return (
        "the host and flash counters cover different parts of the drive (such as a namespace and "
        "an endurance group), or the host has not written yet"
    )
