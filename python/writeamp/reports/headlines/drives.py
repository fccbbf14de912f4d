"""Headlines of real drives: counters, lifetimes, fleets, histories, captures and mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.reports.values import number, rows, table, words
from writeamp.results.numbers import (
    MORE,
    apart_bounds,
    at_least,
    bounds_in_words,
    four_digits,
    plural,
    range_of,
    years_in_words,
)
from writeamp.units.durations import shown_duration

_Document = Mapping[str, Any]
_NONE_SOON = "none is known to wear out within a year"


def of_findings(document: _Document) -> str:
    """Return the number of mistakes by severity, and the worst of them with its effect on WA."""
    faults = rows(document, "findings")
    severities = ("error", "warning", "note")
    counts = [sum(fault.get("severity") == severity for fault in faults) for severity in severities]
    if not any(counts):
        suffix = " by the checks that could run" if rows(document, "not_judged") else ""
        return f"No mistake was found{suffix}."
    worst = next(fault for fault in faults if fault.get("severity") == severities[_first(counts)])
    now, fixed = number(worst, "wa_now"), number(worst, "wa_fixed")
    effect = ""
    if fixed is not None:
        was = "" if now is None else f"{four_digits(now)} instead of "
        effect = f" (WA {was}{four_digits(fixed)})"
    amounts = ", ".join(
        plural(count, severity) for count, severity in zip(counts, severities, strict=True) if count
    )
    link = ": " if sum(counts) == 1 else "; the worst is "
    return f"{amounts}{link}{words(worst, 'id')}{effect}."


def _first(counts: Sequence[int]) -> int:
    return next(at for at, count in enumerate(counts) if count)


def of_lifetime(document: _Document) -> str:
    """Return the years until a drive is worn out, and those until its rated TBW is written."""
    years = "" if words(document, "method") == "rated TBW" else _years_left(document)
    return f"{years}{_used_tbw(document)}".strip()


def _used_tbw(document: _Document) -> str:
    """Return a sentence on the used share of the rated TBW, and the rest in years, or ""."""
    share, rated = number(document, "share_used"), number(document, "rated_tbw")
    if share is None or rated is None:
        return ""
    years = number(document, "years_to_rated_tbw")
    rest = f"; the rest lasts {years_in_words(years)} years at this rate" if years else ""
    return f" The host has written {100 * share:.3g}% of the rated {rated:,.6g} TB{rest}."


def _years_left(document: _Document) -> str:
    years, least = number(document, "years"), number(document, "at_least_years")
    if years is None:
        if least is None:
            return "The remaining life of the drive is unknown."
        return f"The drive has {_at_least(least)} years left at this rate."
    low, high = number(document, "years_low"), number(document, "years_high")
    is_simulated = words(document, "method") == "simulation"
    if years == 0:
        return "The rated life of the drive is over."
    verb, end = ("lasts", "under this load") if is_simulated else ("has", "left at this rate")
    kind = "bounds" if is_simulated else "90% interval"
    within = ""
    if low is not None and high is not None and len({*map(years_in_words, (low, high))}) > 1:
        within = f" ({kind} {years_in_words(low, high)})"
    return f"The drive {verb} {years_in_words(years)} years {end}{within}."


def _at_least(years: float) -> str:
    text = years_in_words(years)
    return text if text.startswith(MORE) else f"at least {text}"


def of_lifetimes(document: _Document) -> str:
    """Return how many drives wear out soon, and the first of them."""
    drives = rows(document, "lifetimes")
    lives = [(years, drive) for drive in drives if (years := _first_year(drive)) is not None]
    text = f"{plural(len(drives), 'drive')}: "
    if not lives:
        return f"{text}the remaining life is unknown for all."
    # A lower bound alone is that of a drive whose wear does not show yet.
    worn = [(years, drive) for years, drive in lives if number(drive, "years") is not None]
    soon = sum(years < 1 for years, _ in worn)
    least, first = min(worn or lives, key=lambda pair: pair[0])
    unknown = len(drives) - len(lives)
    text += f"{_soon(soon)}; the first is {_name(first)}, "
    text += f"after {_at_least(least)} years"
    return f"{text}; {unknown} of unknown remaining life." if unknown else f"{text}."


def of_live(document: _Document) -> str:
    """Return the main writer of a disk, its WA, and the years that are left."""
    written, seconds = number(document, "host_bytes"), number(document, "duration_s")
    if not written or not seconds:
        return f"Nothing was written in {shown_duration(seconds or 0.0)}."
    kind = "files" if rows(document, "files") else "processes"
    named = [row for row in rows(document, kind) if words(row, "name") != "unknown"]
    text = f"{four_digits(number(document, 'tb_a_year') or 0.0)} TB a year at this rate"
    if named:
        share = (number(named[0], "host_bytes") or 0.0) / written
        text += f", {share:.0%} of it by {words(named[0], 'name')}"
    wa = number(document, "wa")
    low, high = number(document, "wa_low"), number(document, "wa_high")
    if wa is not None and low is not None and high is not None:
        between = _between(bounds_in_words(low, high))
        text += f". WA is about {four_digits(wa)}, and between {between} in other states"
    years, rated = number(document, "years"), number(document, "rated_tbw")
    if years is not None and rated is not None:
        text += f". The rated {rated:,.6g} TB last {years_in_words(years)} years"
    return f"{text}."


def of_machine(document: _Document) -> str:
    """Return how many drives of this machine were read, the first to wear out, and the rest."""
    drives, unread = rows(document, "drives"), rows(document, "unread")
    missing = f" {plural(len(unread), 'drive')} could not be read." if unread else ""
    if len(drives) == 1:
        name = words(drives[0], "model") or words(drives[0], "device")
        return f"{name}: {of_counters(drives[0])}{missing}"
    lives = [(years, drive) for drive in drives if (years := _first_year(drive)) is not None]
    text = f"This machine has {plural(len(drives), 'drive')} with counters"
    if not lives:
        return f"{text}; the remaining life is unknown for all.{missing}"
    years, first = min(lives, key=lambda pair: pair[0])
    name = words(first, "device")
    return f"{text}; the first to wear out is {name}, after {_at_least(years)} years.{missing}"


def _name(drive: _Document) -> str:
    return words(drive, "name") or words(drive, "drive")


def _soon(drives: float) -> str:
    return f"{drives:,.0f} may wear out within a year" if drives else _NONE_SOON


def _first_year(drive: _Document) -> float | None:
    """Return the lower bound of the years that a drive has left, or these, or None."""
    bounds = (number(drive, key) for key in ("years_low", "at_least_years", "years"))
    return next((years for years in bounds if years is not None), None)


def of_fleet(document: _Document) -> str:
    """Return what stands out in a fleet, and why drives have no WA."""
    drives, with_wa = len(rows(document, "drives")), number(document, "drives_with_wa") or 0
    median = number(document, "median_wa")
    outliers = number(document, "outliers") or 0
    soon = number(document, "worn_out_within_a_year") or 0
    clauses = [
        f"{with_wa:,.0f} with WA"
        + ("" if median is None else f", median {four_digits(median)}")
        + _highest(rows(document, "drives")),
        f"{outliers:,.0f} stand{'s' * (outliers == 1)} out" if outliers else "none stands out",
        _soon(soon),
    ]
    beyond = number(document, "beyond_rated_tbw") or 0
    clauses += [f"{beyond:,.0f} beyond the rated TBW"] if beyond else []
    without = drives - with_wa
    named = [reason for reason in rows(document, "reasons") if words(reason, "group")][:2]
    counts = [(number(reason, "drives") or 0, words(reason, "group")) for reason in named]
    others = without - sum(count for count, _ in counts)
    groups = [f"{count:,.0f} {group}" for count, group in counts]
    groups += [f"{others:,.0f} for other reasons"] if others else []
    if without:
        clauses.append(f"{without:,.0f} without: {', '.join(groups)}")
    return f"{plural(drives, 'drive')}: {'; '.join(clauses)}."


def _highest(drives: Sequence[_Document]) -> str:
    """Return a clause on the highest WA of several drives, or of their lower bounds.

    Returns "" if fewer than two drives have a WA.
    """
    values = [
        (low if wa is None else wa, drive)
        for drive in drives
        for wa, low, high in [[number(drive, key) for key in ("wa", "wa_low", "wa_high")]]
        if wa is not None or (low is not None and high is not None)
    ]
    if len(values) < 2:
        return ""
    _, drive = max(values, key=lambda pair: pair[0] or 0.0)
    wa, low, high = (number(drive, key) for key in ("wa", "wa_low", "wa_high"))
    text = f"{bounds_in_words(low, high)} by estimate" if wa is None else four_digits(wa)
    return f", highest {text} ({_name(drive)})"


def of_history(document: _Document) -> str:
    """Return the latest WA of the drives of a history."""
    drives = rows(document, "drives")
    if not drives:
        return "The history has no drive."
    single = sum(not rows(drive, "intervals") for drive in drives)
    has_one = f"{single} with one snapshot so far" if single else ""
    if len(drives) > 1:
        latest = sorted(wa for drive in drives if (wa := _latest_wa(drive)) is not None)
        of_all = (
            f"the latest WA is {range_of(latest[0], latest[-1]) or four_digits(latest[0])}"
            f" ({plural(len(latest), 'drive')})"
            if latest
            else "no interval has a WA"
        )
        return f"{plural(len(drives), 'drive')}: {'; '.join(filter(None, (of_all, has_one)))}."
    (drive,) = drives
    name = _name(drive)
    if single:
        return f"{name}: one snapshot so far; WA over time needs a second one."
    wa, since_new = _latest_wa(drive), number(table(drive, "life"), "wa")
    now = "no interval has a WA" if wa is None else f"WA was {four_digits(wa)} in the last interval"
    also = "" if since_new is None else f", and {four_digits(since_new)} since the drive was new"
    return f"{name}: {now}{also}."


def _latest_wa(drive: _Document) -> float | None:
    """Return the WA of the last interval that has one, or None."""
    values = [wa for each in rows(drive, "intervals") if (wa := number(each, "wa")) is not None]
    return values[-1] if values else None


def of_snapshots(document: _Document) -> str:
    """Return in how many snapshots WA is known, and its range."""
    snapshots = rows(document, "snapshots")
    values = [wa for snapshot in snapshots if (wa := number(snapshot, "wa")) is not None]
    of_all = plural(len(snapshots), "snapshot")
    if not values:
        return f"WA is unknown in all of {of_all}; the table has the reasons."
    ends = range_of(min(values), max(values)) or four_digits(values[0])
    return f"WA is known in {len(values)} of {of_all}: {ends}."


def of_calibration(document: _Document) -> str:
    """Return the unit of each counter that counts the host's writes."""
    counters = rows(document, "counters")
    units = [
        f"{words(counter, 'label')} counts {unit}"
        for counter in counters
        if (unit := words(counter, "unit"))
    ]
    if not units:
        return f"No unit fits any of {plural(len(counters), 'counter')} that rose."
    return f"Units found: {'; '.join(units)}."


def of_counters(document: _Document) -> str:
    """Return the WA that the counters of a drive allow, and the used share of its rated TBW."""
    wa = _wa_by_counters(document)
    return f"{wa}{_used_tbw(document)}" if wa else ""


def _wa_by_counters(document: _Document) -> str:
    wa = number(document, "wa")
    if wa is None:
        low, high = number(document, "wa_low"), number(document, "wa_high")
        if low is not None and high is not None:
            return f"WA is between {_between(bounds_in_words(low, high))}, by estimate."
        if low is not None and low >= 1:
            return f"WA is {at_least(low)}; the counters omit a part of the flash."
        reason = words(document, "reason")
        return f"WA is unknown: {reason}." if reason else ""
    low, high = number(document, "wa_low"), number(document, "wa_high")
    text, apart = (
        (four_digits(wa), "") if low is None or high is None else apart_bounds(wa, low, high)
    )
    allowed = f" (between {_between(apart)} by its counters)" if apart else ""
    costs = f"each byte that the host writes costs {text} bytes of flash"
    if words(document, "wa_definition") == "pages":
        costs = f"each page that the host writes costs {text} page programs"
    how = words(document, "class") or "counted"
    return f"WA {text}{allowed}: {costs}. It is {how} on the drive."


def _between(within: str) -> str:
    return within.replace(" to ", " and ")
