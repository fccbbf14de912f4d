"""Summary: the answer in a sentence, and what a reader should know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from writeamp.reports.report import Block, Paragraph, Report, Section
from writeamp.reports.sections.ways import in_words, most_trusted
from writeamp.reports.values import interval, number, rows, table, texts, words
from writeamp.results.numbers import (
    at_least,
    four_digits,
    interval_in_words,
    interval_name,
    range_of,
)

_Document = Mapping[str, Any]


def summary(report: Report) -> Section:
    """Return the head of the page."""
    document = report.document
    found: list[Block] = [Paragraph(sentence_of(report), "answer")]
    if document.get("steady") is False:
        found.append(Paragraph(f"not steady: {words(document, 'steady_reason')}", "warning"))
    found += [
        Paragraph(one, "warning")
        for one in texts(document, "warnings")
        if not (document.get("steady") is False and one.startswith("not steady"))
    ]
    return Section("summary", "", tuple(found))


def sentence_of(report: Report) -> str:
    """Return the answer in a sentence or two."""
    document = report.document
    for keys, sentence in _SENTENCES:
        if keys <= document.keys():
            found = sentence(document)
            if found:
                return found
    return f"What writeamp {report.verb} found."


def _of_answer(document: _Document) -> str:
    row = most_trusted(rows(document, "rows"))
    if row is None:
        return "No way could answer; the table says why."
    found = rows(document, "rows")
    others = [
        f"{in_words(words(one, 'way')).rstrip(',')} {four_digits(wa)}"
        for one in found
        if one is not row and (wa := number(one, "wa")) is not None
    ]
    also = f"; {', '.join(others)}" if others else ""
    way = words(row, "way")
    name = interval_name(of_profile=way == "simulate" and "wa_ci90" in document)
    wa_said = _wa(row, name="bounds" if way.startswith("real") else name)
    said = f"{wa_said} That is what {in_words(way)} finds{also}."
    changes = [
        (wa, words(one, "change"))
        for one in rows(document, "advice")
        if (wa := number(one, "wa")) is not None
    ]
    now = number(row, "wa")
    if changes and now:
        wa, change = min(changes)
        if wa < now:
            said += f" It would be {four_digits(wa)} ({wa / now - 1:+.0%}) with: {change}."
    return said


def _of_comparison(document: _Document) -> str:
    found = [(wa, one) for one in rows(document, "rows") if (wa := number(one, "wa")) is not None]
    if not found:
        return ""
    (least, best), (most, worst) = (choice(found, key=lambda one: one[0]) for choice in (min, max))
    if len(found) == 1:
        return _wa(best)
    has_loads = len({words(one, "workload") for _, one in found}) > 1
    first, last = (_policy(one, has_loads=has_loads) for one in (best, worst))
    return (
        f"{first} amplifies writes least, by {four_digits(least)}; {last} most, by "
        f"{four_digits(most)}."
    )


def _policy(row: _Document, *, has_loads: bool) -> str:
    load = f" under {words(row, 'workload')}" if has_loads else ""
    return ", ".join(filter(None, (words(row, "manager"), words(row, "victims")))) + load


def _of_difference(document: _Document) -> str:
    wa = next((one for one in rows(document, "numbers") if one.get("key") == "wa"), {})
    before, after = number(wa, "a"), number(wa, "b")
    settings = [words(one, "key") for one in rows(document, "settings")]
    changed = f"Set differently: {', '.join(settings)}. " if settings else "No setting differs. "
    if before is None or after is None:
        count = len(rows(document, "numbers"))
        return f"{changed}{count} numbers differ."
    verdict = {
        "differs": "more than noise explains",
        "within noise": "within noise",
    }.get(words(wa, "verdict"), "without an interval to judge it by")
    share = f" ({after / before - 1:+.1%})" if before else ""
    return (
        f"{changed}Write amplification went from {four_digits(before)} to "
        f"{four_digits(after)}{share}, {verdict}."
    )


def _of_findings(document: _Document) -> str:
    found = rows(document, "findings")
    count = {
        severity: sum(one.get("severity") == severity for one in found)
        for severity in ("error", "warning", "note")
    }
    said = [f"{number} {what}{'s' * (number > 1)}" for what, number in count.items() if number]
    return f"Found: {', '.join(said)}." if said else "Nothing was found that is wrong."


def _of_target(document: _Document) -> str:
    op, target = number(document, "op"), number(document, "target_wa")
    if op is None or target is None:
        return ""
    low, high = number(document, "op_low"), number(document, "op_high")
    within = "" if low is None or high is None else f" ({interval_in_words(low, high)})"
    return f"A write amplification of {target:g} needs {op:.4g} of spare space, as op{within}."


def _of_endurance(document: _Document) -> str:
    lives = number(document, "endurance_full_drive_writes")
    if lives is None:
        return ""
    within = interval(document, "endurance")
    said = f" ({interval_in_words(*within, '.4g')})" if within else ""
    tbw = number(document, "tbw")
    also = f" That is a TBW of {four_digits(tbw)} TB." if tbw is not None else ""
    return (
        f"The drive takes {four_digits(lives)} full drive writes until it is worn out{said}.{also}"
    )


def _of_lifetime(document: _Document) -> str:
    years, least = number(document, "years"), number(document, "at_least_years")
    if years is None:
        return "" if least is None else f"The drive has at least {least:.3g} years left."
    low, high = number(document, "years_low"), number(document, "years_high")
    within = "" if low is None or high is None else f", {low:.3g} to {high:.3g}"
    if words(document, "method") == "simulation":
        return f"The drive lives for {years:.3g} years{within}."
    return f"The drive has {years:.3g} years left{within}."


def _of_counters(document: _Document) -> str:
    if number(document, "wa") is None:
        low, high = number(document, "wa_low"), number(document, "wa_high")
        if low is not None and high is not None:
            return f"Write amplification lies between {low:.3g} and {high:.3g}, by estimate."
        if low is not None and low >= 1:
            return f"Write amplification is {at_least(low)}: a part of the flash is not counted."
        reason = words(document, "reason")
        return f"Write amplification is not known: {reason}." if reason else ""
    low, high = number(document, "wa_low"), number(document, "wa_high")
    apart = "" if low is None or high is None else range_of(low, high)
    allowed = f" (between {apart.replace(' to ', ' and ')}, as its counters allow)" if apart else ""
    return f"{_wa(document, allowed)} It is {words(document, 'class') or 'counted'} on the drive."


def _of_predictions(document: _Document) -> str:
    found = [
        f"{four_digits(wa)} ({words(one, 'model')})"
        for one in rows(document, "models")
        if (wa := number(one, "wa")) is not None and one.get("in_domain") is not False
    ]
    op = number(document, "op")
    if not found or op is None:
        return ""
    return f"Uniform random writes at op {op:.4g} are amplified by {', '.join(found)}."


def _of_methods(document: _Document) -> str:
    found = {words(one, "method"): number(one, "wa") for one in rows(document, "methods")}
    best, by_size = found.get("optimal"), found.get("size")
    if best is None:
        return ""
    than = f", and by {four_digits(by_size)} if each had its part by size" if by_size else ""
    return (
        f"With the spare space divided best between the groups, writes are amplified by "
        f"{four_digits(best)}{than}."
    )


def _of_trace(document: _Document) -> str:
    writes, times = number(document, "writes"), number(document, "writes_per_page")
    hottest = number(document, "hottest_10pct_share")
    if not writes or times is None:
        return ""
    uneven = (
        "" if hottest is None else f"; the busiest tenth of them gets {hottest:.0%} of the writes"
    )
    return f"{writes:,.0f} writes go to each page that is written {times:.3g} times{uneven}."


def _wa(document: _Document, within: str | None = None, name: str = "") -> str:
    """Return the sentence on WA, with its interval by name if its words are not given."""
    wa = number(document, "wa")
    if wa is None:
        return "The host wrote nothing." if document.get("host_pages") == 0 else ""
    bounds = interval(document, "wa")
    if within is None:
        name = name or interval_name(of_profile="wa_ci90" in document)
        within = f" ({interval_in_words(*bounds, '.3f', name)})" if bounds else ""
    collected = number(table(document, "causes"), "gc")
    host = number(table(document, "causes"), "host")
    moved = ""
    if collected and host:
        moved = f": the page itself, and {four_digits(collected / host)} moved by collection"
        others = wa - 1 - collected / host
        moved += f" and {four_digits(others)} for other causes" if others > 0.0005 * wa else ""
    return (
        f"For each page that the host writes, the flash programs {four_digits(wa)}{within}{moved}."
    )


# Keys that only such a document has together; the special before the general.
_SENTENCES: tuple[tuple[frozenset[str], Callable[[_Document], str]], ...] = (
    (frozenset({"rows", "differences", "advice"}), _of_answer),
    (frozenset({"settings", "numbers", "equal"}), _of_difference),
    (frozenset({"rows", "loads"}), _of_comparison),
    (frozenset({"target_wa", "op"}), _of_target),
    (frozenset({"endurance_full_drive_writes"}), _of_endurance),
    (frozenset({"years", "at_least_years"}), _of_lifetime),
    (frozenset({"wa", "wa_definition"}), _of_counters),
    (frozenset({"models", "op"}), _of_predictions),
    (frozenset({"methods", "op"}), _of_methods),
    (frozenset({"requests", "writes_per_page"}), _of_trace),
    (frozenset({"wa"}), _wa),
    (frozenset({"findings"}), _of_findings),
)
