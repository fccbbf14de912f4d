"""`writeamp blackbox explain`: a model's explanation as text, figure and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import findings, options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError, unknown
from writeamp.files import output
from writeamp.learn.blackbox.model_input import ModelInput
from writeamp.learn.blackbox.settings import ExplanationSettings
from writeamp.plots import check_target, save
from writeamp.results.card import Card
from writeamp.results.numbers import json_number

if TYPE_CHECKING:
    from writeamp.learn.blackbox.explanation import Explanation, Response, Rules
    from writeamp.learn.blackbox.training import BlackBox

_TYPICAL = "the median of the training rows"
_PAGE_SUFFIXES = (".html", ".htm")


def explain(
    model: Annotated[
        Path,
        typer.Argument(
            help="Trained model: a file of `blackbox train`.", metavar="MODEL", show_default=False
        ),
    ],
    settings: ExplanationSettings,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write one HTML page with importances, response curves and rules of all targets.",
            metavar="FILE.html",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the predictions of --target as each characteristic of the workload varies "
            "(.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Explain a model's predictions: importances, response curves, and rules of its trees.

    Example: writeamp blackbox explain x25m.model --out x25m.html
    """
    from writeamp.learn.blackbox import (  # noqa: PLC0415 (takes seconds)
        explanation,
        model_file,
        pictures,
    )

    target, load = settings.target, (settings.workload, settings.fio, settings.fio_run)
    question = None if load == (None, None, None) else ModelInput(*load)
    findings.of_fio(settings.fio, settings.fio_run, None)
    _check_outputs(model, out, plot, target)
    with Bar("explaining"):
        trained = model_file.load(model)
        if target is not None and target not in trained.estimators:
            raise unknown("target", target, trained.estimators)
        explanations = [
            explanation.explained(trained, name)
            for name in trained.estimators
            if target in (None, name)
        ]
        around = explanation.typical_workload(trained)
        if question is not None:
            around = explanation.like(trained, question.characteristics().frame())
        curves = explanation.responses(trained, around)
    named = _TYPICAL if question is None else question.name
    if plot is not None and target is not None:
        drawn = explanation.strongest(curves, target, len(curves))
        if not drawn:
            raise WriteampError(
                f"the predictions of {target} are constant; --plot cannot draw curves"
            )
        save(pictures.response_curves(trained, target, drawn, named), plot)
    if out is not None:
        with output.replacing(out, "page", inputs=[model]) as file:
            file.write(pictures.model_page(trained, around, named))

    def document() -> dict[str, Any]:
        return _document(model, trained, explanations, curves) | {"out": out and str(out)}

    title = f"{model}: share of each target's explained variation, by feature"
    rules = () if target is None else explanations[0].rules
    options.show(
        document,
        lambda: replace(_card(title, explanations), parts=list(map(_card_of_rules, rules))),
        json=json,
        print_tables=_print,
    )


def _print(card: Card) -> None:
    options.print_card(replace(card, parts=()))
    for rules in card.parts:
        stdout.print(rules.title)
        for (line,) in rules.rows:
            # Wrapped lines would lose their indentation, which is the structure of the rules.
            stdout.out(line, highlight=False)


def _card_of_rules(rules: Rules) -> Card:
    title = f"rules{' for ' if rules.name else ''}{rules.name}: {rules.leaves} leaves"
    return Card(title, [[line] for line in rules.text.splitlines()], ["rule"])


def _check_outputs(model: Path, out: Path | None, plot: Path | None, target: str | None) -> None:
    if out is not None:
        if out.suffix.lower() not in _PAGE_SUFFIXES:
            raise WriteampError(f"--out is {str(out)!r}; it must end in .html")
        output.check_target(out, "page")
    if plot is not None:
        if target is None:
            raise WriteampError("--plot draws the response curves of one target; give --target")
        check_target(plot)
    output.check_distinct([path for path in (model, out, plot) if path is not None])


def _document(
    model: Path, trained: BlackBox, explanations: Sequence[Explanation], curves: Sequence[Response]
) -> dict[str, Any]:
    return {
        "model": str(model),
        "drive": trained.drive,
        "kind": trained.model,
        "features": trained.features,
        "joint": trained.is_joint,
        "targets": [
            {
                "target": item.target,
                "unseen_mre": trained.unseen_mre[item.target],
                "importances": item.importances,
                "rules": [
                    {"of": rules.name, "leaves": rules.leaves, "text": rules.text}
                    for rules in item.rules
                ],
                "responses": [_curve(curve, item.target) for curve in curves],
            }
            for item in explanations
        ],
    }


def _curve(curve: Response, target: str) -> dict[str, Any]:
    prediction = curve.predictions[target]
    lines = {"value": prediction.value, "low": prediction.low, "high": prediction.high}
    return {"characteristic": curve.characteristic, "x": curve.x.tolist()} | {
        name: [json_number(value) for value in line.tolist()] for name, line in lines.items()
    }


def _card(title: str, explanations: Sequence[Explanation]) -> Card:
    explained = [explanation for explanation in explanations if explanation.importances is not None]
    if not explained:
        return Card(
            "This kind of model has no feature importances. Use --out for its response curves.", []
        )
    names = list(explained[0].importances or {})
    rows = [
        [name, *(f"{(explanation.importances or {})[name]:.1%}" for explanation in explained)]
        for name in names
    ]
    columns = ["feature", *(f">{explanation.target}" for explanation in explained)]
    return Card(title, rows, columns)
