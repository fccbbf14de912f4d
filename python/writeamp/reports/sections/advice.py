"""Advice for a run: theory's prediction, and the command that simulates changes."""

from __future__ import annotations

from writeamp.models._markov import markov
from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.values import number, op_of_data, words
from writeamp.results.numbers import four_digits

# Upper limits of valid op and pages per block in a document, far above those of drives.
_MOST_OP, _MOST_PAGES = 100.0, 1 << 20

# Options of `simulate` that `answer` does not have, and whether each takes a value.
_NOT_OF_ANSWER = {
    **dict.fromkeys(("--time", "--host-bytes", "--time-scale", "--keep", "--scheduler"), True),
    **dict.fromkeys(("--rb-capture", "--rb-rate", "--rb-jitter", "--rb-missed"), True),
    **dict.fromkeys(("--tls-ca-file", "--tls-cert", "--tls-key"), True),
    **dict.fromkeys(("--timed", "--no-timed", "--spread", "--no-spread"), False),
}


def advice(report: Report) -> Section | None:
    """Return the command that simulates changes of a run, and theory's prediction if it applies."""
    document = report.document
    op, pages = op_of_data(document), number(document, "pages_per_block")
    # A capacity scales the results of a smaller drive, which `answer` does not do.
    is_scaled = any(word.startswith("--capacity") for word in report.command)
    is_run = report.verb == "simulate" and "causes" in document and not is_scaled
    is_run = is_run and "target_wa" not in document
    if is_run and op and pages and 0 < op < _MOST_OP and pages in range(1, _MOST_PAGES):
        # Theory has no SLC cache and no mapping table on flash, which timed runs have.
        is_uniform = words(document, "workload").partition(":")[0] == "uniform"
        is_uniform = is_uniform and document.get("timed") is not True
        return _untried(report, _of_theory(op, pages) if is_uniform else ())
    return None


def _untried(report: Report, theory: tuple[Block, ...]) -> Section:
    """Return the prediction by theory, if any, and the command that tries changes."""
    explanation = Paragraph(
        "This command simulates this load with more op, with TRIM, and with other block managers "
        "and victim policies, one change at a time:"
    )
    command = report.with_options(verb="answer", without=_NOT_OF_ANSWER)
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
