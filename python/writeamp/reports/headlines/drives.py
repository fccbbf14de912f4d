"""Headlines of real drives: counters, lifetime, captures and mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.reports.headlines.runs import of_wa
from writeamp.reports.values import number, rows, words
from writeamp.results.numbers import at_least, four_digits, plural, range_of

_Document = Mapping[str, Any]


def of_findings(document: _Document) -> str:
    """Return the number of mistakes by severity."""
    faults = rows(document, "findings")
    count = {
        severity: sum(fault.get("severity") == severity for fault in faults)
        for severity in ("error", "warning", "note")
    }
    counts = [
        f"{number} {severity}{'s' * (number > 1)}" for severity, number in count.items() if number
    ]
    return f"Found: {', '.join(counts)}." if counts else "No faults found."


def of_lifetime(document: _Document) -> str:
    """Return the years until a drive is worn out."""
    years, least = number(document, "years"), number(document, "at_least_years")
    if years is None:
        return "" if least is None else f"The drive has at least {least:.3g} years left."
    low, high = number(document, "years_low"), number(document, "years_high")
    within = "" if low is None or high is None else f", {low:.3g} to {high:.3g}"
    if words(document, "method") == "simulation":
        return f"The drive lasts {years:.3g} years{within}."
    return f"The drive has {years:.3g} years left{within}."


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
    """Return the WA that the counters of a drive allow."""
    if number(document, "wa") is None:
        low, high = number(document, "wa_low"), number(document, "wa_high")
        if low is not None and high is not None:
            return f"WA is between {low:.3g} and {high:.3g}, by estimate."
        if low is not None and low >= 1:
            return f"WA is {at_least(low)}; the counters omit a part of the flash."
        reason = words(document, "reason")
        return f"WA is unknown: {reason}." if reason else ""
    low, high = number(document, "wa_low"), number(document, "wa_high")
    apart = "" if low is None or high is None else range_of(low, high)
    allowed = f" (between {apart.replace(' to ', ' and ')} by its counters)" if apart else ""
    return f"{of_wa(document, allowed)} It is {words(document, 'class') or 'counted'} on the drive."
