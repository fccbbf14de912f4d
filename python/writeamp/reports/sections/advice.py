"""Advice: how to reduce WA, with the expected WA of each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.models._markov import markov
from writeamp.reports.headlines.runs import most_trusted
from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.values import number, op_of_data, rows, words
from writeamp.results.numbers import four_digits

# Upper limits of valid op and pages per block in a document, far above those of drives.
_MOST_OP, _MOST_PAGES = 100.0, 1 << 20


def advice(report: Report) -> Section | None:
    """Return the changes whose effect on WA was computed, or the command that computes it."""
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
    has_years = any(number(trial, "years") is not None for trial in tried)
    lines = []
    for trial in tried:
        wa, years = number(trial, "wa"), number(trial, "years")
        evidence = "–" if wa is None else four_digits(wa)
        change = "" if wa is None or not now else f"{wa / now - 1:+.1%}"
        cells = [words(trial, "change"), evidence, change]
        if has_years:
            cells.append("–" if years is None else f"{years:.3g}")
        lines.append([*cells, words(trial, "costs") or words(trial, "reason")])
    columns = [
        "change",
        ">WA with the change",
        ">change of WA",
        *([">years of life"] if has_years else []),
        "costs, or why it does not work",
    ]
    if not any(line[-1] for line in lines):
        columns, lines = columns[:-1], [line[:-1] for line in lines]
    intro = "" if now is None else f" Without any change it is {four_digits(now)}."
    blocks: tuple[Block, ...] = (
        Paragraph(f"Write amplification with each change alone.{intro}"),
        Rows(columns, lines),
    )
    return Section("advice", "How to reduce it", blocks)


def _untried(report: Report, theory: tuple[Block, ...]) -> Section:
    """Return the prediction by theory, if any, and the command that tries changes."""
    arguments = [
        argument
        for argument in report.command[1:]
        if argument not in ("--series", "--json", "--csv")
    ]
    explanation = Paragraph(
        "This command simulates this load with more op, with TRIM, and with other block managers "
        "and victim policies, one change at a time:"
    )
    command = Report("answer", ("answer", *arguments), {}).command_line
    return Section("advice", "How to reduce it", (*theory, explanation), command=command)


def _of_theory(op: float, pages: float) -> tuple[Block, ...]:
    """Return theory's prediction for more spare space under uniform writes."""
    now = float(markov(op, pages))
    lines = []
    for times in (1.5, 2, 3):
        wa = float(markov(times * op, pages))
        change = f"{times:g} times the spare space: op {times * op:.3g}"
        lines.append([change, four_digits(wa), f"{wa / now - 1:+.0%}"])
    return (
        Rows(["change", ">WA by theory", ">change of WA"], lines),
        Paragraph(
            f"Theory is the Markov model of uniform random writes. For op {op:.3g} it predicts "
            f"{four_digits(now)}."
        ),
    )
