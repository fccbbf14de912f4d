"""Findings of `writeamp doctor`: the fault, its evidence, and the corrected WA."""

from __future__ import annotations

from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.values import number, rows, shown, words
from writeamp.results.numbers import four_digits


def findings(report: Report) -> Section | None:
    """Return the findings, most severe first."""
    faults = rows(report.document, "findings")
    not_judged = rows(report.document, "not_judged")
    if not (faults or not_judged):
        return None
    order = {"error": 0, "warning": 1, "note": 2}
    blocks: list[Block] = []
    for fault in sorted(faults, key=lambda fault: order.get(words(fault, "severity"), 3)):
        severity = words(fault, "severity") or "note"
        tone = {"error": "bad", "warning": "warning"}.get(severity, "")
        head = f"{severity.capitalize()}, {words(fault, 'id')}: {words(fault, 'message')}"
        blocks.append(Paragraph(head, tone))  # type: ignore[arg-type]
        lines = [
            ("evidence", shown(fault["evidence"]) if fault.get("evidence") else ""),
            ("how to fix it", words(fault, "advice")),
            ("WA", _change(number(fault, "wa_now"), number(fault, "wa_fixed"))),
        ]
        blocks.append(Rows(["", ""], [line for line in lines if line[1]]))
    for check in not_judged:
        place = f"{words(check, 'id')} in {words(check, 'where')}"
        blocks.append(Paragraph(f"Not checked, {place}: {words(check, 'reason')}"))
    return Section("findings", "Findings", tuple(blocks))


def _change(now: float | None, fixed: float | None) -> str:
    if fixed is None:
        return "" if now is None else f"{four_digits(now)} measured"
    measured = "" if now is None else f"{four_digits(now)} measured, "
    return f"{measured}{four_digits(fixed)} corrected"
