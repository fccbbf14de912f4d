"""Summary: the answer in a sentence, and its warnings."""

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
# Beginnings of the warning on a WA that is not steady, in results of this and of older versions.
# The summary has a paragraph of its own on that, so the warning is left out.
_NOT_STEADY = ("WA is not steady", "not steady")


def summary(report: Report) -> Section:
    """Return the section at the top of the page."""
    document = report.document
    blocks: list[Block] = [Paragraph(sentence_of(report), "answer")]
    if document.get("steady") is False:
        blocks.append(Paragraph(f"not steady: {words(document, 'steady_reason')}", "warning"))
    blocks += [
        Paragraph(warning, "warning")
        for warning in texts(document, "warnings")
        if not (document.get("steady") is False and warning.startswith(_NOT_STEADY))
    ]
    return Section("summary", "", tuple(blocks))


def sentence_of(report: Report) -> str:
    """Return the answer in one or two sentences."""
    document = report.document
    for keys, sentence in _SENTENCES:
        if keys <= document.keys():
            answer = sentence(document)
            if answer:
                return answer
    return f"Result of writeamp {report.verb}."


def _of_answer(document: _Document) -> str:
    row = most_trusted(rows(document, "rows"))
    if row is None:
        return "No row has an answer; see the reasons in the table."
    answers = rows(document, "rows")
    others = [
        f"{in_words(words(other, 'way'))} {four_digits(wa)}"
        for other in answers
        if other is not row and (wa := number(other, "wa")) is not None
    ]
    also = f"; others: {', '.join(others)}" if others else ""
    way = words(row, "way")
    name = interval_name(of_profile=way == "simulate" and "wa_ci90" in document)
    wa_text = _wa(row, name="bounds" if way.startswith("real") else name)
    text = f"{wa_text} Source: {in_words(way)}{also}."
    changes = [
        (wa, words(trial, "change"))
        for trial in rows(document, "advice")
        if (wa := number(trial, "wa")) is not None
    ]
    now = number(row, "wa")
    if changes and now:
        wa, change = min(changes)
        if wa < now:
            text += (
                f" Best change tried: {change}, with a WA of {four_digits(wa)} "
                f"({wa / now - 1:+.0%})."
            )
    return text


def _of_comparison(document: _Document) -> str:
    results = [(wa, row) for row in rows(document, "rows") if (wa := number(row, "wa")) is not None]
    if not results:
        return ""
    (least, best), (most, worst) = (
        choice(results, key=lambda pair: pair[0]) for choice in (min, max)
    )
    if len(results) == 1:
        return _wa(best)
    has_loads = len({words(row, "workload") for _, row in results}) > 1
    first, last = (_policy(row, has_loads=has_loads) for row in (best, worst))
    return (
        f"Lowest write amplification: {four_digits(least)}, {first}. Highest: "
        f"{four_digits(most)}, {last}."
    )


def _policy(row: _Document, *, has_loads: bool) -> str:
    load = f" under {words(row, 'workload')}" if has_loads else ""
    return ", ".join(filter(None, (words(row, "manager"), words(row, "victims")))) + load


def _of_difference(document: _Document) -> str:
    wa = next((metric for metric in rows(document, "numbers") if metric.get("key") == "wa"), {})
    first, second = number(wa, "a"), number(wa, "b")
    settings = [words(setting, "key") for setting in rows(document, "settings")]
    names = ", ".join(settings)
    changed = f"Settings that differ: {names}. " if settings else "No setting differs. "
    if first is None or second is None:
        count = len(rows(document, "numbers"))
        return f"{changed}{count} metrics differ."
    verdict = {
        "differs": "more than noise",
        "within noise": "within noise",
    }.get(words(wa, "verdict"), "without an interval to compare")
    share = f" ({second / first - 1:+.1%})" if first else ""
    return (
        f"{changed}Write amplification went from {four_digits(first)} to "
        f"{four_digits(second)}{share}, {verdict}."
    )


def _of_findings(document: _Document) -> str:
    faults = rows(document, "findings")
    count = {
        severity: sum(fault.get("severity") == severity for fault in faults)
        for severity in ("error", "warning", "note")
    }
    counts = [
        f"{number} {severity}{'s' * (number > 1)}" for severity, number in count.items() if number
    ]
    return f"Found: {', '.join(counts)}." if counts else "No faults found."


def _of_target(document: _Document) -> str:
    op, target = number(document, "op"), number(document, "target_wa")
    if op is None or target is None:
        return ""
    low, high = number(document, "op_low"), number(document, "op_high")
    within = "" if low is None or high is None else f" ({interval_in_words(low, high)})"
    return f"A write amplification of {target:g} needs op {op:.4g}{within}."


def _of_endurance(document: _Document) -> str:
    lives = number(document, "endurance_full_drive_writes")
    if lives is None:
        return ""
    within = interval(document, "endurance")
    bounds = f" ({interval_in_words(*within, '.4g')})" if within else ""
    tbw = number(document, "tbw")
    also = f" That is a TBW of {four_digits(tbw)} TB." if tbw is not None else ""
    return f"The drive endures {four_digits(lives)} writes of its physical capacity{bounds}.{also}"


def _of_lifetime(document: _Document) -> str:
    years, least = number(document, "years"), number(document, "at_least_years")
    if years is None:
        return "" if least is None else f"The drive has at least {least:.3g} years left."
    low, high = number(document, "years_low"), number(document, "years_high")
    within = "" if low is None or high is None else f", {low:.3g} to {high:.3g}"
    if words(document, "method") == "simulation":
        return f"The drive lasts {years:.3g} years{within}."
    return f"The drive has {years:.3g} years left{within}."


def _of_counters(document: _Document) -> str:
    if number(document, "wa") is None:
        low, high = number(document, "wa_low"), number(document, "wa_high")
        if low is not None and high is not None:
            return f"Write amplification is between {low:.3g} and {high:.3g}, by estimate."
        if low is not None and low >= 1:
            return f"Write amplification is {at_least(low)}; the counters omit a part of the flash."
        reason = words(document, "reason")
        return f"Write amplification is unknown: {reason}." if reason else ""
    low, high = number(document, "wa_low"), number(document, "wa_high")
    apart = "" if low is None or high is None else range_of(low, high)
    allowed = f" (between {apart.replace(' to ', ' and ')} by its counters)" if apart else ""
    return f"{_wa(document, allowed)} It is {words(document, 'class') or 'counted'} on the drive."


def _of_predictions(document: _Document) -> str:
    predictions = [
        f"{four_digits(wa)} ({words(model, 'model')})"
        for model in rows(document, "models")
        if (wa := number(model, "wa")) is not None and model.get("in_domain") is not False
    ]
    op = number(document, "op")
    if not predictions or op is None:
        return ""
    return f"Write amplification of uniform random writes at op {op:.4g}: {', '.join(predictions)}."


def _of_methods(document: _Document) -> str:
    wa_by_method = {
        words(method, "method"): number(method, "wa") for method in rows(document, "methods")
    }
    best, by_size = wa_by_method.get("optimal"), wa_by_method.get("size")
    if best is None:
        return ""
    than = f", or {four_digits(by_size)} with spare space in proportion to size" if by_size else ""
    return (
        "With the best division of spare space between the groups, write amplification is "
        f"{four_digits(best)}{than}."
    )


def _of_trace(document: _Document) -> str:
    writes, times = number(document, "writes"), number(document, "writes_per_page")
    hottest = number(document, "hottest_10pct_share")
    if not writes or times is None:
        return ""
    uneven = "" if hottest is None else f"; the hottest 10% of them get {hottest:.0%} of the writes"
    return f"{writes:,.0f} writes, on average {times:.3g} to each written page{uneven}."


def _wa(document: _Document, within: str | None = None, name: str = "") -> str:
    """Return the sentence on WA; `within` replaces the interval, whose kind is `name`."""
    wa = number(document, "wa")
    if wa is None:
        return "The host wrote no data." if document.get("host_pages") == 0 else ""
    bounds = interval(document, "wa")
    if within is None:
        name = name or interval_name(of_profile="wa_ci90" in document)
        within = f" ({interval_in_words(*bounds, '.3f', name)})" if bounds else ""
    collected = number(table(document, "causes"), "gc")
    host = number(table(document, "causes"), "host")
    moved = ""
    if collected and host:
        others = wa - 1 - collected / host
        for_others = f", and {four_digits(others)} for other causes" if others > 0.0005 * wa else ""
        joint = "," if for_others else " and"
        by_collection = f"{four_digits(collected / host)} moved by garbage collection"
        moved = f": the page itself{joint} {by_collection}{for_others}"
    return (
        f"For each page that the host writes, the flash programs {four_digits(wa)}{within}{moved}."
    )


# Key that identifies each kind of document; special kinds come first, because the first match is
# used.
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
    (frozenset({"twin", "summary", "phases"}), lambda document: words(document, "summary")),
    (frozenset({"wa"}), _wa),
    (frozenset({"findings"}), _of_findings),
)
