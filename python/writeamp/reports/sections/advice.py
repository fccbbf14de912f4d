"""Advice: what would make WA less, with what it would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.models._markov import markov
from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.sections.ways import most_trusted
from writeamp.reports.values import number, op_of_data, rows, words
from writeamp.results.numbers import four_digits

# No drive has more.
_MOST_OP, _MOST_PAGES = 100.0, 1 << 20


def advice(report: Report) -> Section | None:
    """Return what to do: what was tried, or the command that tries it."""
    document = report.document
    tried = rows(document, "advice") or rows(document, "what_if")
    if tried:
        return _of_tries(report, tried)
    op, pages = op_of_data(document), number(document, "pages_per_block")
    is_run = report.verb == "simulate" and "causes" in document
    if is_run and op and pages and 0 < op < _MOST_OP and pages in range(1, _MOST_PAGES):
        is_uniform = words(document, "workload").partition(":")[0] == "uniform"
        return _untried(report, _of_theory(op, pages) if is_uniform else ())
    return None


def _of_tries(report: Report, tried: Sequence[Mapping[str, Any]]) -> Section:
    row = most_trusted(rows(report.document, "rows"))
    now = number(row or report.document, "wa")
    has_years = any(number(one, "years") is not None for one in tried)
    lines = []
    for one in tried:
        wa, years = number(one, "wa"), number(one, "years")
        evidence = "–" if wa is None else four_digits(wa)
        change = "" if wa is None or not now else f"{wa / now - 1:+.1%}"
        cells = [words(one, "change"), evidence, change]
        if has_years:
            cells.append("–" if years is None else f"{years:.3g}")
        lines.append([*cells, words(one, "costs") or words(one, "reason")])
    columns = [
        "change",
        ">WA with it",
        ">against now",
        *([">years"] if has_years else []),
        "what it costs, or why not",
    ]
    if not any(line[-1] for line in lines):
        columns, lines = columns[:-1], [line[:-1] for line in lines]
    intro = "" if now is None else f" Now it is {four_digits(now)}."
    blocks: tuple[Block, ...] = (
        Paragraph(f"Each change alone, and the write amplification that it would give.{intro}"),
        Rows(columns, lines),
    )
    return Section("advice", "What to do", blocks)


def _untried(report: Report, theory: tuple[Block, ...]) -> Section:
    """Return what theory says of this load, if anything, and the command that tries changes."""
    given = [one for one in report.command[1:] if one not in ("--series", "--json", "--csv")]
    found = Paragraph(
        "What this very load would gain by op, TRIM, another manager or victim policy, one change "
        "at a time, simulation finds:"
    )
    command = Report("answer", ("answer", *given), {}).command_line
    return Section("advice", "What to do", (*theory, found), command=command)


def _of_theory(op: float, pages: float) -> tuple[Block, ...]:
    """Return what theory says of more spare space under uniform writes."""
    now = float(markov(op, pages))
    lines = []
    for times in (1.5, 2, 3):
        wa = float(markov(times * op, pages))
        change = f"{times:g} times the spare space: op {times * op:.3g}"
        lines.append([change, four_digits(wa), f"{wa / now - 1:+.0%}"])
    return (
        Rows(["change", ">WA by theory", ">against now"], lines),
        Paragraph(
            f"Theory is the Markov model, of uniform random writes; for op {op:.3g} it says "
            f"{four_digits(now)}."
        ),
    )
