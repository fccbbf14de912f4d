"""Summary: the headline of the result, and its warnings."""

from __future__ import annotations

from writeamp.reports.headlines.headline import headline
from writeamp.reports.report import Block, Paragraph, Report, Section
from writeamp.reports.values import texts, words

# Beginnings of the warning on a WA that is not steady, in results of this and of older versions.
# The summary has a paragraph of its own on that, so the warning is left out.
_NOT_STEADY = ("WA is not steady", "not steady")


def summary(report: Report) -> Section:
    """Return the section at the top of the page."""
    document = report.document
    sentence = headline(document)
    blocks: list[Block] = [Paragraph(sentence, "answer")] if sentence else []
    if document.get("steady") is False:
        blocks.append(Paragraph(f"not steady: {words(document, 'steady_reason')}", "warning"))
    blocks += [
        Paragraph(warning, "warning")
        for warning in texts(document, "warnings")
        if not (document.get("steady") is False and warning.startswith(_NOT_STEADY))
    ]
    return Section("summary", "", tuple(blocks))
