"""Headlines of predictions and runs of one or several drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.reports.values import interval, number, rows, table, words
from writeamp.results.numbers import (
    four_digits,
    interval_in_words,
    interval_name,
    plural,
)
from writeamp.text import shortened
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration

_Document = Mapping[str, Any]


def of_comparison(document: _Document) -> str:
    """Return the lowest and the highest WA of several policies."""
    results = [(wa, row) for row in rows(document, "rows") if (wa := number(row, "wa")) is not None]
    if not results:
        return ""
    (least, best), (most, worst) = (
        choice(results, key=lambda pair: pair[0]) for choice in (min, max)
    )
    cannot = cannot_run(rows(document, "rows"), "wa")
    if len(results) == 1:
        return of_wa(best) + cannot
    if four_digits(least) == four_digits(most):
        return f"All {len(results)} rows have the same WA, {four_digits(least)}.{cannot}"
    has_loads = len({words(row, "workload") for _, row in results}) > 1
    first, last = (_policy(row, has_loads=has_loads) for row in (best, worst))
    return (
        f"Lowest WA: {four_digits(least)}, {first}. Highest: {four_digits(most)}, {last}.{cannot}"
    )


def cannot_run(all_rows: Sequence[_Document], wa: str) -> str:
    """Return a sentence on the rows with a reason instead of a WA (key `wa`), or ""."""
    without = [row for row in all_rows if number(row, wa) is None]
    omitted = [words(row, "manager") for row in without if words(row, "reason")]
    if not omitted:
        return ""
    names = shortened([*dict.fromkeys(omitted)])
    return f" {len(omitted)} of {len(all_rows)} rows cannot run: {names}."


def _policy(row: _Document, *, has_loads: bool) -> str:
    load = f" under {words(row, 'workload')}" if has_loads else ""
    return ", ".join(filter(None, (words(row, "manager"), words(row, "victims")))) + load


def of_target(document: _Document) -> str:
    """Return the op that a WA needs."""
    op, target = number(document, "op"), number(document, "target_wa")
    if op is None or target is None:
        return ""
    bounds = interval(document, "op")
    within = f" ({interval_in_words(*bounds)})" if bounds else ""
    return f"A WA of {target:g} needs op {op:.4g}{within}."


def of_endurance(document: _Document) -> str:
    """Return how much can be written to a drive."""
    lives = number(document, "endurance_full_drive_writes")
    if lives is None:
        return ""
    within = interval(document, "endurance")
    bounds = f" ({interval_in_words(*within, '.4g')})" if within else ""
    tbw, dwpd, years = (number(document, key) for key in ("tbw", "dwpd", "warranty_years"))
    amounts = [f"TBW {four_digits(tbw)} TB"] if tbw is not None else []
    if dwpd is not None and years is not None:
        amounts.append(f"{dwpd:.3g} drive writes a day for {years:g} years")
    also = f": {', '.join(amounts)}" if amounts else ""
    rated = number(table(document, "jesd219"), "tbw")
    rating = (
        "" if rated is None or rated == tbw else f" Under JESD219, TBW is {four_digits(rated)} TB."
    )
    return (
        f"The drive endures {four_digits(lives)} writes of its physical capacity{bounds}{also}."
        f"{rating}"
    )


def of_predictions(document: _Document) -> str:
    """Return each model's WA, or the op for a WA."""
    predictions = [
        f"{four_digits(wa)} ({words(model, 'model')})"
        for model in rows(document, "models")
        if (wa := number(model, "wa")) is not None and model.get("in_domain") is not False
    ]
    op, target = number(document, "op"), number(document, "target_wa")
    if predictions and op is not None:
        effective = number(document, "effective_op")
        place = f"op {op:.4g}"
        if effective is not None and abs(effective - op) > 1e-9:
            place += f", which is an effective op of {effective:.4g}"
        return f"WA of uniform random writes at {place}: {', '.join(predictions)}."
    needed = [
        f"{four_digits(needed_op)} ({words(model, 'model')})"
        for model in rows(document, "models")
        if (needed_op := number(model, "op")) is not None and model.get("in_domain") is not False
    ]
    if needed and target is not None:
        return f"Uniform random writes have a WA of {target:g} at op {', '.join(needed)}."
    return "No model's assumptions hold for this drive."


def of_methods(document: _Document) -> str:
    """Return the WA of the best division of spare space."""
    wa_by_method = {
        words(method, "method"): number(method, "wa") for method in rows(document, "methods")
    }
    best, by_size = wa_by_method.get("optimal"), wa_by_method.get("size")
    if best is None:
        return ""
    by_share = f" by size alone it is {four_digits(by_size)}." if by_size else ""
    return (
        f"With the best division of spare space between the groups, WA is {four_digits(best)}"
        f"{';' if by_share else '.'}{by_share}"
    )


def of_exploration(document: _Document) -> str:
    """Return how much the heuristic division of spare space costs over many workloads."""
    mean, most = (number(document, f"{key}_over_optimal_percent") for key in ("mean", "max"))
    count = number(document, "configurations")
    if mean is None or most is None or count is None:
        return ""
    return (
        f"Over {plural(int(count), 'workload')}, spare space divided by the write frequencies "
        f"gives a WA {round(mean, 3):g}% above the optimum on average, {round(most, 3):g}% at most."
    )


def of_trace(document: _Document) -> str:
    """Return the number of writes of a trace, and their skew."""
    writes, times = number(document, "writes"), number(document, "writes_per_page")
    hottest = number(document, "hottest_10pct_share")
    if not writes or times is None:
        return ""
    uneven = "" if hottest is None else f"; the hottest 10% of the pages get {hottest:.0%} of that"
    return (
        f"{writes:,.0f} writes: each written page is written {times:.3g} times on average{uneven}."
    )


def of_catalogue(document: _Document) -> str:
    """Return the number of public traces, and of those that the cache has."""
    traces = rows(document, "traces")
    if not traces:
        return ""
    fetched = sum(bool(words(trace, "path")) for trace in traces)
    return (
        f"{len(traces)} public traces, {fetched} of them fetched; `writeamp trace fetch NAME` "
        "downloads one."
    )


def of_fetched(document: _Document) -> str:
    """Return whether a public trace was downloaded now or before, and its size."""
    size_bytes, name = number(document, "bytes"), words(document, "name")
    if size_bytes is None or not name:
        return ""
    when = "was downloaded" if document.get("downloaded") is True else "is downloaded and unchanged"
    return f"{name} {when}: {size_bytes:,.0f} bytes."


def of_budgets(document: _Document) -> str:
    """Return sentences on the budgets of a run, the broken ones first, or ""."""
    budgets = sorted(rows(document, "budgets"), key=lambda budget: budget.get("holds") is True)
    sentences = [words(budget, "sentence") for budget in budgets]
    return "".join(f"{sentence[:1].upper()}{sentence[1:]}. " for sentence in sentences if sentence)


def of_recording(document: _Document) -> str:
    """Return what wrote most on a recorded device: files if they were recorded, else processes."""
    written, seconds = number(document, "written_bytes"), number(document, "duration_s")
    if written is None or seconds is None:
        return ""
    if not written:
        return f"Nothing was written to {words(document, 'device')} in {shown_duration(seconds)}."
    amount = f"{shown_bytes(int(written))} written in {shown_duration(seconds)}"
    kind, key = ("file", "files") if rows(document, "files") else ("process", "processes")
    unknown = number(table(document, "unknown_share"), kind)
    shares = [(words(row, "name"), number(row, "share")) for row in rows(document, key)[:3]]
    shares.append((f"unknown {kind}", unknown or None))
    clauses = ", ".join(f"{name} {share:.0%}" for name, share in shares if share is not None)
    return f"{amount}: {clauses}." if clauses else f"{amount}."


def of_timed(document: _Document) -> str:
    """Return the speed of a run in virtual time, and its WA."""
    all_iops = number(table(document, "iops"), "all")
    latencies = [
        f"99% of the {kind}s take at most {p99_us / 1000:.3g} ms"
        for kind in ("write", "read")
        if (p99_us := number(table(table(document, "latency_us"), kind), "p99")) is not None
    ]
    speed = [] if all_iops is None else [f"{four_digits(all_iops)} IOPS"]
    text = "; ".join((*speed, *latencies))
    return f"{text}. {of_wa(document)}" if text else ""


def of_wa(document: _Document, within: str | None = None, name: str = "") -> str:
    """Return the sentence on WA; `within` replaces the interval, whose kind is `name`."""
    verdict = words(table(document, "limit"), "sentence")
    if verdict:
        # The one WA of the sentence is the one that was compared.
        return f"{verdict[0].upper()}{verdict[1:]}.{_collected_share(document)}"
    wa = number(document, "wa")
    if wa is None:
        return "The host wrote no data." if document.get("host_pages") == 0 else ""
    bounds = interval(document, "wa")
    if within is None:
        name = name or interval_name(of_profile="wa_ci90" in document)
        within = f" ({interval_in_words(*bounds, '.3f', name)})" if bounds else ""
    unsteady = ", not steady" if document.get("steady") is False else ""
    if document.get("steady") is False and table(document, "causes").get("gc") == 0:
        return (
            f"WA {four_digits(wa)}: nothing was collected in this run, so it shows nothing about "
            "longer runs."
        )
    layers = f"{_of_units(document)}{_of_application(document)}"
    return f"WA {four_digits(wa)}{within}{unsteady}: {_costs(document, wa)}.{layers}"


def _of_application(document: _Document) -> str:
    """Return the host and flash bytes of each byte that the application writes, as a sentence."""
    application = table(document, "application")
    host, flash = (
        number(application, f"{layer}_bytes_per_application_byte") for layer in ("host", "flash")
    )
    if host is None or flash is None:
        return ""
    unsteady = ", not steady" if application.get("steady") is False else ""
    return (
        f" Each byte of the application costs {four_digits(host)} bytes of host writes and "
        f"{four_digits(flash)} bytes of flash{unsteady}."
    )


def _of_units(document: _Document) -> str:
    """Return the cost of writes of less than a given mapping unit, if any, as a sentence."""
    wa_bytes, factor = (number(document, key) for key in ("wa_bytes", "partial_page_factor"))
    if wa_bytes is None or factor is None or number(document, "host_page_bytes") is None:
        return ""
    times = four_digits(factor)
    if times == "1":
        return ""
    unit = shown_bytes(int(number(document, "page_bytes") or 0))
    return (
        f" WA per host byte is {four_digits(wa_bytes)}, because the mapping units of {unit} that "
        f"the host writes have {times} times its bytes."
    )


def _collected_share(document: _Document) -> str:
    """Return the part of garbage collection in all page programs, as a sentence."""
    causes = table(document, "causes")
    collected = number(causes, "gc")
    programs = sum(number(causes, cause) or 0 for cause in causes)
    if not collected or not programs:
        return ""
    return f" {collected / programs:.0%} of all page programs move pages in garbage collection."


def programs_in_words(wa: float, unit: str = "page") -> str:
    """Return the programs per page or other unit that the host writes."""
    programs = four_digits(wa)
    return f"{programs} {unit} program{'' if programs == '1' else 's'}"


def _costs(document: _Document, wa: float) -> str:
    """Return the page programs per host page, and the part of garbage collection."""
    unit = "page" if number(document, "host_page_bytes") is None else "mapping unit"
    costs = f"each {unit} that the host writes costs {programs_in_words(wa, unit)}"
    causes = table(document, "causes")
    pages = {cause: number(causes, cause) or 0.0 for cause in causes}
    total, collected = sum(pages.values()), pages.get("gc", 0.0)
    # Host pages that go through an SLC cache are counted as "slc".
    own = sum(pages.get(cause, 0.0) for cause in ("host", "slc", "read_modify_write"))
    others = total - collected - own
    if not 0 < collected < total:
        return costs
    text = (
        f"{costs}; {four_digits(wa * collected / total)} of them move pages in garbage collection"
    )
    if others > 0.0005 * total:
        return f"{text}, {four_digits(wa * others / total)} have other causes"
    return text
