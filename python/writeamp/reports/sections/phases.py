"""Phases of `writeamp twin check`: predicted and measured WA, and why phases have none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.plots.figures.predictions import Prediction, predicted_and_measured
from writeamp.reports.report import Block, Drawing, Report, Rows, Section
from writeamp.reports.values import number, rows, words
from writeamp.results.numbers import four_digits


def phases(report: Report) -> Section | None:
    """Return the predictions beside the measured WA, and the reasons of other phases."""
    if not {"twin", "phases", "p90_error"} <= report.document.keys():
        return None
    all_phases = rows(report.document, "phases")
    drawn = [(phase, wa) for phase in all_phases if (wa := _prediction(phase)) is not None]
    blocks: list[Block] = []
    if drawn:
        figure = predicted_and_measured(
            [prediction for _, prediction in drawn], title="Predicted and measured WA"
        )
        blocks.append(
            Drawing(figure, "Dots are predicted, lines their 90% intervals, diamonds measured.")
        )
        columns = ["phase", ">measured WA", ">predicted WA", ">90% interval", ">error", "inside"]
        blocks.append(Rows(columns, [_line(phase, wa) for phase, wa in drawn]))
    others = [
        [_name(phase), words(phase, "pattern"), _shown(phase), words(phase, "reason")]
        for phase in all_phases
        if _prediction(phase) is None
    ]
    if others:
        columns = ["phase without a prediction", "load", ">measured WA", "why"]
        blocks.append(Rows(columns, others, folded=f"{len(others)} phases without a prediction"))
    return Section("phases", "Phases", tuple(blocks))


def _prediction(phase: Mapping[str, Any]) -> Prediction | None:
    keys = ("wa", "predicted", "predicted_low", "predicted_high")
    values = [value for key in keys if (value := number(phase, key)) is not None]
    if len(values) < len(keys):
        return None
    return Prediction(_name(phase), words(phase, "drive"), *values)


def _name(phase: Mapping[str, Any]) -> str:
    return f"{words(phase, 'run')}:{number(phase, 'phase') or 0:.0f} {words(phase, 'pattern')}"


def _shown(phase: Mapping[str, Any]) -> str:
    wa = number(phase, "wa")
    return "" if wa is None else four_digits(wa)


def _line(phase: Mapping[str, Any], wa: Prediction) -> list[str]:
    return [
        wa.name,
        four_digits(wa.measured),
        four_digits(wa.predicted),
        f"{four_digits(wa.low)} to {four_digits(wa.high)}",
        f"{wa.predicted / wa.measured - 1:+.1%}",
        "yes" if phase.get("holds") else "no",
    ]
