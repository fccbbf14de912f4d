"""`writeamp sweep show`: the results in a folder, as tables, pictures and JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.studies.sweep.views.settings import (
    KINDS,
    AxesSettings,
    ResultsSettings,
    ViewSettings,
)

if TYPE_CHECKING:
    from writeamp.studies.sweep.results import SweepResults
    from writeamp.studies.sweep.views.view import View

_LINES, _HEAT_MAP = (f"--kind {kind}" for kind in KINDS)
_PARETO, _SENSITIVITY = "--pareto", "--sensitivity"
# So many rows of a table are printed; the JSON document has all.
_MOST_ROWS = 200

# The options of each way to look.
_TAKES = {
    _LINES: ("x", "y", "hue", "facet", "log_x", "log_y"),
    _HEAT_MAP: ("x", "y", "color", "facet"),
    _PARETO: ("hue",),
    _SENSITIVITY: ("y",),
}


def show(
    folder: Annotated[
        Path, typer.Argument(help="The folder of the results.", metavar="DIR", show_default=False)
    ],
    results: ResultsSettings,
    asked: ViewSettings,
    given: Annotated[dict[str, Any], AxesSettings],
    *,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw it (.png, .svg, .pdf or .html).", metavar="FILE"),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Print the results in a folder, draw them, or ask them which choices are best and why.

    Example: writeamp sweep show results/

    Example: writeamp sweep show results/ --x op --hue manager --plot op.png
    """
    if plot is not None:
        check_target(plot)
    from writeamp.studies.sweep.results import sweep_results  # noqa: PLC0415 (slow)

    chosen = _chosen(asked, is_asked=bool(given) or plot is not None)
    with Bar("reading"):
        found = sweep_results(folder, of=results.of).where(results.where or {})
        view = None if chosen is None else _view(found, chosen, asked.pareto, given)
    if view is not None and plot is not None:
        view.plot(plot)
    _note_failures(found)

    def document() -> dict[str, Any]:
        return {
            "out": str(folder),
            "points": found.tidy.frame.height,
            "parameters": found.tidy.parameters,
            **(
                {"rows": [group.to_dict() for group in found.groups()]}
                if view is None
                else view.to_dict()
            ),
        }

    if options.printed_json(document, json=json):
        return
    if csv:
        options.print_csv((view or found).to_frame())
        return
    card = (view or found).card()
    # Its title is the number of points where it does not say more.
    title = f"{folder}: {card.title}" if card.title.endswith(" points") else card.title
    options.print_card(replace(card, title=title), most_rows=_MOST_ROWS)
    for sentence in card.notes:
        options.note(sentence)


def _chosen(asked: ViewSettings, *, is_asked: bool) -> str | None:
    """Return the way to look that the options choose; None for the plain table."""
    named = [
        flag
        for flag, is_given in (
            (f"--kind {asked.kind}", asked.kind is not None),
            (_PARETO, asked.pareto is not None),
            (_SENSITIVITY, asked.sensitivity),
        )
        if is_given
    ]
    if len(named) > 1:
        raise WriteampError(f"{named[0]} and {named[1]} are different pictures; give only one")
    return named[0] if named else _LINES if is_asked else None


def _view(found: SweepResults, chosen: str, pareto: str | None, given: dict[str, Any]) -> View:
    for name in given:
        if name not in _TAKES[chosen]:
            words = ", ".join(f"--{one.replace('_', '-')}" for one in _TAKES[chosen])
            raise WriteampError(
                f"--{name.replace('_', '-')} is no option of {chosen}, which takes {words}"
            )
    if chosen == _PARETO:
        return found.pareto(*map(str.strip, (pareto or "").split(",")), **given)
    if chosen == _SENSITIVITY:
        return found.sensitivity(**given)
    return found.heat_map(**given) if chosen == _HEAT_MAP else found.curves(**given)


def _note_failures(found: SweepResults) -> None:
    failed = found.tidy.frame["error"].count()
    if failed:
        options.warn(
            f"{failed} of {found.tidy.frame.height} points failed; `writeamp sweep FILE.toml "
            "--retry-failed` runs them again"
        )
