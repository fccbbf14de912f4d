"""`writeamp sweep show`: results in a folder as tables, pictures and JSON."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
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
# Maximum number of printed rows of a table; the JSON document has all rows.
MOST_ROWS = 200

# For each view, the names of the options that apply to it; other options of views are rejected.
_TAKES = {
    _LINES: ("x", "y", "hue", "facet", "log_x", "log_y"),
    _HEAT_MAP: ("x", "y", "color", "facet"),
    _PARETO: ("hue",),
    _SENSITIVITY: ("y",),
}


def show(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder in which `writeamp sweep --keep DIR` stored the results.",
            metavar="DIR",
            show_default=False,
        ),
    ],
    results: ResultsSettings,
    views: ViewSettings,
    axes: Annotated[dict[str, Any], AxesSettings],
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the results to this file (.png, .svg, .pdf or .html); by default as lines.",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Print or draw the results in a folder; find the best settings and those that matter most.

    --pareto shows the best trade-offs between two or three results, such as WA and op.
    --sensitivity shows how much each axis affects a result.

    Example: writeamp sweep show results/

    Example: writeamp sweep show results/ --x op --hue manager --plot op.png
    """
    if plot is not None:
        check_target(plot)
    from writeamp.studies.sweep.results import sweep_results  # noqa: PLC0415 (slow)

    chosen = _chosen(views, is_asked=bool(axes) or plot is not None)
    with Bar("reading"):
        points = sweep_results(folder, of=results.of).where(results.where or {})
        view = None if chosen is None else _view(points, chosen, views.pareto, axes)
    if view is not None and plot is not None:
        view.plot(plot)
    _note_failures(points)

    def document() -> dict[str, Any]:
        return {
            "out": str(folder),
            "points": points.tidy.frame.height,
            "parameters": list(points.tidy.parameters),
            **(
                {"rows": [group.to_dict() for group in points.groups()]}
                if view is None
                else view.to_dict()
            ),
        }

    card = (view or points).card()
    # Some titles, such as "12 points", do not name the results, so the folder is added.
    title = f"{folder}: {card.title}" if card.title.endswith(" points") else card.title
    options.show(
        document,
        lambda: replace(card, title=title),
        frame=(view or points).to_frame,
        figure=(view or points).figure,
        json=json,
        csv=csv,
        print_tables=partial(options.print_card, most_rows=MOST_ROWS),
    )
    for sentence in () if json or csv else card.notes:
        options.note(sentence)


def _chosen(views: ViewSettings, *, is_asked: bool) -> str | None:
    """Return the view that the options choose, or None for the plain table."""
    named = [
        flag
        for flag, is_given in (
            (f"--kind {views.kind}", views.kind is not None),
            (_PARETO, views.pareto is not None),
            (_SENSITIVITY, views.sensitivity),
        )
        if is_given
    ]
    if len(named) > 1:
        raise WriteampError(f"{named[0]} and {named[1]} exclude each other; give only one")
    return named[0] if named else _LINES if is_asked else None


def _view(results: SweepResults, chosen: str, pareto: str | None, axes: dict[str, Any]) -> View:
    for name in axes:
        if name not in _TAKES[chosen]:
            words = ", ".join(f"--{option.replace('_', '-')}" for option in _TAKES[chosen])
            raise WriteampError(
                f"--{name.replace('_', '-')} cannot be combined with {chosen}, which takes {words}"
            )
    if chosen == _PARETO:
        return results.pareto(*map(str.strip, (pareto or "").split(",")), **axes)
    if chosen == _SENSITIVITY:
        return results.sensitivity(**axes)
    return results.heat_map(**axes) if chosen == _HEAT_MAP else results.curves(**axes)


def _note_failures(results: SweepResults) -> None:
    failed = results.tidy.frame["error"].count()
    if failed:
        options.warn(
            f"{failed} of {results.tidy.frame.height} points failed; `writeamp sweep FILE.toml "
            "--retry-failed` runs them again"
        )
