"""Findings of the doctor: what is wrong, its evidence, and what the number would have been."""

from __future__ import annotations

from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.values import number, rows, shown, words
from writeamp.results.numbers import four_digits


def findings(report: Report) -> Section | None:
    """Return the findings, the worst first."""
    found = rows(report.document, "findings")
    not_judged = rows(report.document, "not_judged")
    if not (found or not_judged):
        return None
    order = {"error": 0, "warning": 1, "note": 2}
    blocks: list[Block] = []
    for one in sorted(found, key=lambda each: order.get(words(each, "severity"), 3)):
        severity = words(one, "severity") or "note"
        tone = {"error": "bad", "warning": "warning"}.get(severity, "")
        head = f"{severity.capitalize()}, {words(one, 'id')}: {words(one, 'message')}"
        blocks.append(Paragraph(head, tone))  # type: ignore[arg-type]
        lines = [
            ("evidence", shown(one["evidence"]) if one.get("evidence") else ""),
            ("what to change", words(one, "advice")),
            ("WA", _change(number(one, "wa_now"), number(one, "wa_fixed"))),
        ]
        blocks.append(Rows(["", ""], [line for line in lines if line[1]]))
    for one in not_judged:
        blocks.append(
            Paragraph(
                f"Not judged, {words(one, 'id')} of {words(one, 'where')}: {words(one, 'reason')}"
            )
        )
    return Section("findings", "Findings", tuple(blocks))


def _change(now: float | None, fixed: float | None) -> str:
    if fixed is None:
        return "" if now is None else f"{four_digits(now)} now"
    before = "" if now is None else f"{four_digits(now)} now; "
    return f"{before}{four_digits(fixed)} with the change"
