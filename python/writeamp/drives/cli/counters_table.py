"""Results of real drives as they are printed, and tables of answers by counters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from writeamp.cli import options
from writeamp.results.numbers import bounds_in_words, range_of, with_range
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    from writeamp.drives.counters.amounts import Amount
    from writeamp.drives.counters.answer import DriveCounters


def print_result(found: Any, show: Callable[[], None], *, json: bool, csv: bool) -> None:
    """Print a result as JSON or CSV where that is asked for, else by a function."""
    if options.printed_json(found.to_dict, json=json):
        return
    if csv:
        options.print_csv(found.to_frame())
    else:
        show()


def facts_of_answer(found: DriveCounters) -> list[tuple[str, str]]:
    """Return the rows of one answer."""
    facts = found.facts
    rows = [("drive", " ".join(filter(None, (facts.model, facts.firmware))) or "not said")]
    rows += [("family", facts.family)] if facts.family else []
    rows.append(("WA", shown_wa(found)))
    rows += [("why", found.reason)] if found.reason else []
    rows += [("definition", found.wa_definition)] if found.wa_definition else []
    divided = found.kind in {"measured", "lower-bound"}
    rows.append(("counters" if divided else "read from", found.source))
    rows += [("host wrote", _shown(found.host))] if found.host else []
    rows += [("flash programmed", _shown(found.flash))] if found.flash else []
    if found.days is not None and found.days >= 0:
        of = " powered on" if found.is_powered_on else ""
        rows.append(("interval", f"{found.days:,.4g} days{of}"))
    if facts.percentage_used is not None:
        rows.append(("rated life used", f"{facts.percentage_used:g}% ({facts.used_label})"))
    rows += [
        (f"also by {one['wa_definition']}", _shown_bounds(one["wa"], one["wa_low"], one["wa_high"]))
        for one in found.definitions
        if one["wa_definition"] != found.wa_definition and one["class"] != "none"
    ]
    rows += [(f"check: {one.name}", f"{one.verdict}: {one.evidence}") for one in found.checks]
    return rows


def warn_of_doubts(found: DriveCounters, name: str = "") -> None:
    """Say on stderr what is in doubt of one answer, each with its name if there is one."""
    for sentence in found.warnings:
        options.warn(f"{name}: {sentence}" if name else sentence)


def life_table(found: Sequence[DriveCounters]) -> Table:
    """Return a table with a row a snapshot."""
    columns = ("snapshot", "model", "WA", "definition", "host wrote", "life used", "why")
    rows = (
        (
            one.name,
            one.facts.model or "",
            shown_wa(one),
            one.wa_definition or "",
            shown_bytes(round(one.host.nominal)) if one.host else "",
            "" if one.facts.percentage_used is None else f"{one.facts.percentage_used:g}%",
            one.reason,
        )
        for one in found
    )
    return options.bare_table(columns, rows)


def shown_wa(found: DriveCounters) -> str:
    """Return the write amplification with its bounds, or what is known of it."""
    return _shown_bounds(found.wa, found.wa_low, found.wa_high)


def _shown_bounds(wa: float | None, low: float | None, high: float | None) -> str:
    if wa is not None:
        return f"{wa:.4g}" if low is None or high is None else with_range(wa, low, high)
    return bounds_in_words(low, high) + (", estimated" if high is not None else "") or "unknown"


def _shown(amount: Amount) -> str:
    low, nominal, high = (float(one) for one in amount)
    said = range_of(low, high, ",.0f") or f"{nominal:,.0f}"
    return f"{shown_bytes(round(nominal))} ({said} bytes)"
