"""Sliders of spare space and hot data, with predictions of analytic models in the page."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from typing import Any

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import INK, WA_LABEL, series_color
from writeamp.reports.report import Controls, Drawing, Paragraph, Report, Section
from writeamp.reports.values import number, op_of_data, table, words
from writeamp.text import html_text

_LEAST_OP, _MOST_OP = 0.01, 1.0
_MOST_PAGES = 4096
# Rows of `page.js`, with their labels.
_ROWS = (
    ("expected-value", "uniform writes, oldest block as victim (Expected Value)"),
    ("markov", "uniform writes, emptiest block as victim (Markov)"),
    ("greedy", "uniform writes, emptiest block as victim, mean field (d-choices, d = ∞)"),
    ("d-choices", "uniform writes, emptiest of 10 random blocks as victim (d-choices)"),
    ("cold-rests", "uniform writes to the hot pages only (effective op)"),
    ("divided-best", "hot and cold data separated, best division of spare space (Dayan et al.)"),
)
_CURVES = (("markov", "uniform, greedy"), ("divided-best", "hot and cold data separated"))
_HOT_COLD = re.compile(r"hot-cold:f=([0-9.eE+-]+),r=([0-9.eE+-]+)")
_MOST_WA = 8.0


def what_if(report: Report) -> Section | None:
    """Return the sliders, initially set to the drive and its load; None for a timed run."""
    document = report.document
    op, wa = op_of_data(document), number(document, "wa")
    pages = number(document, "pages_per_block")
    if op is None or pages is None or not 1 <= pages <= _MOST_PAGES or op <= 0:
        return None
    # Theory has no SLC cache, mapping table or latency, and holds for drives that collect.
    is_timed = document.get("timed") is True or bool(table(document, "latency_us"))
    if is_timed or number(document, "erases") == 0:
        return None
    load = _HOT_COLD.search(words(document, "workload"))
    hot, writes = (float(share) for share in load.groups()) if load else (0.2, 0.8)
    hot, writes = (min(max(share, 0.01), 0.99) for share in (hot, writes))
    start = min(max(op, _LEAST_OP), _MOST_OP)
    predict = ["predict", "--op", f"{start:.4g}", "--pages-per-block", f"{pages:.0f}"]
    intro = Paragraph(
        "Predictions of theory for a full, large drive with other spare space and another load. "
        "The page computes the formulas of writeamp's library. They use only two values of this "
        f"run: op{_why_this_op(document, op)} and pages per block."
    )
    form = Controls(_form(start, pages, hot, writes), _drawing(start, wa), _END)
    command = shlex.join(["writeamp", *predict])
    return Section("what-if", "What if", (intro, form), command=command)


def _why_this_op(document: Mapping[str, Any], op: float) -> str:
    """Return why the effective op differs from the drive's op, or ""."""
    of_drive = number(document, "op")
    if not of_drive or abs(op / of_drive - 1) < 0.005:
        return ""
    return (
        f" (effective op {op:.4g}, because only a part of the logical pages holds data; op of the "
        f"drive {of_drive:.4g})"
    )


_END = '<button type="button" class="screen">Reset</button></form>'


def _form(op: float, pages: float, hot: float, writes: float) -> str:
    log = f'data-scale="log" min="{math.log10(_LEAST_OP):g}" max="{math.log10(_MOST_OP):g}"'
    share = 'min="0.01" max="0.99"'
    sliders = (
        ("op", "spare space, op = (T−U)/U", log, math.log10(op), "any"),
        ("hot", "hot pages, share of all pages", share, hot, "0.01"),
        ("writes", "writes to hot pages, share of all writes", share, writes, "0.01"),
    )
    controls = "".join(
        f'<div><label for="if-{name}">{html_text(label)} <output for="if-{name}"></output></label>'
        f'<input type="range" id="if-{name}" name="{name}" {ends} step="{step}" '
        f'value="{value:.6g}"></div>'
        for name, label, ends, value, step in sliders
    )
    lines = "".join(
        f'<tr><td>{html_text(label)}</td><td class="number" data-row="{name}"></td>'
        f'<td class="number" data-change="{name}"></td></tr>'
        for name, label in _ROWS
    )
    return (
        f'<form class="what-if" data-op="{op:.17g}" data-pages="{pages:.0f}">'
        f'<div class="sliders screen">{controls}</div>'
        f'<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">load and model</th>'
        f'<th scope="col" class="number">WA</th><th scope="col" class="number">change from op '
        f"{op:.3g}</th></tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _drawing(op: float, wa: float | None) -> Drawing:
    """Return axes with a legend, on which a script draws the curves."""
    lines = [Line((), (), series_color(at), label=label) for at, (_, label) in enumerate(_CURVES)]
    dot = ""
    if wa is not None and wa <= _MOST_WA:
        lines.append(Line([op], [wa], INK, 0.0, marker="circle"))
        dot = "; the dot is this result"
    figure = PanelChart(
        title="Curves of write amplification over op",
        subtitle="",
        x_label="op",
        y_label=WA_LABEL,
        panels=(Panel("", tuple(lines), x_ends=(_LEAST_OP, _MOST_OP), y_ends=(1.0, _MOST_WA)),),
        columns=1,
        x_log=True,
        x_ticks=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    )
    drawn = "".join(
        f'<polyline data-curve="{name}" style="fill:none;stroke:var(--series-{at})"/>'
        for at, (name, _) in enumerate(_CURVES, start=1)
    )
    here = '<line data-here style="stroke:var(--muted);stroke-dasharray:5 4"/>'
    caption = f"WA over op. The dashed line is the slider's op{dot}."
    return Drawing(figure, caption, inside=drawn + here)
