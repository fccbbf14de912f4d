"""`writeamp sweep show`: the results in a folder, as tables, pictures and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.domains import OneOf, shown
from writeamp.errors import WriteampError
from writeamp.plots import check_target

if TYPE_CHECKING:
    from writeamp.studies.sweep.results import SweepResults
    from writeamp.studies.sweep.views.view import View

_KINDS = ("lines", "heatmap")
_LINES, _HEAT_MAP = (f"--kind {kind}" for kind in _KINDS)
_PARETO, _SENSITIVITY = "--pareto", "--sensitivity"

# The options of each way to look.
_TAKES = {
    _LINES: ("x", "y", "hue", "facet", "log_x", "log_y"),
    _HEAT_MAP: ("x", "y", "color", "facet"),
    _PARETO: ("hue",),
    _SENSITIVITY: ("y",),
}

_POINTS = "Which results"
_AXES = "Lines and heat maps"
_OTHERS = "Trade-offs and sensitivity"


def _in_panel(panel: str, *flags: str, **more: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=panel, **more)


def show(
    folder: Annotated[
        Path, typer.Argument(help="The folder of the results.", metavar="DIR", show_default=False)
    ],
    *,
    of: Annotated[
        Path | None,
        _in_panel(
            _POINTS,
            "--of",
            help="Only the points of this sweep, where several share the folder; --sensitivity "
            "needs it of designs that draw samples.",
            metavar="FILE.toml",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        _in_panel(
            _POINTS,
            "--where",
            help="Only results in which a setting has this value (repeatable).",
            metavar="NAME=VALUE",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        _in_panel(
            _AXES,
            "--kind",
            help=f"{_KINDS[0]} (default) or {_KINDS[1]}.",
            metavar="KIND",
            autocompletion=options.completer(_KINDS),
        ),
    ] = None,
    x: Annotated[
        str | None,
        _in_panel(
            _AXES,
            "--x",
            metavar="AXIS",
            help="The axis along x: by default the first that has numbers.",
        ),
    ] = None,
    y: Annotated[
        str | None,
        _in_panel(
            _AXES,
            "--y",
            metavar="COLUMN",
            help="What was found (default wa), a column of numbers; of a heat map the axis of the "
            "rows.",
        ),
    ] = None,
    hue: Annotated[
        str | None,
        _in_panel(_AXES, "--hue", metavar="AXIS", help="The axis with a line for each value."),
    ] = None,
    facet: Annotated[
        list[str] | None,
        _in_panel(
            _AXES,
            "--facet",
            metavar="AXIS",
            help="An axis with a panel for each value (repeatable).",
        ),
    ] = None,
    color: Annotated[
        str | None,
        _in_panel(
            _AXES,
            "--color",
            metavar="COLUMN",
            help="What the cells of a heat map show (default wa).",
        ),
    ] = None,
    log_x: Annotated[
        bool | None,
        _in_panel(_AXES, "--log-x/--linear-x", help="By default logarithmic where the values are."),
    ] = None,
    log_y: Annotated[
        bool | None, _in_panel(_AXES, "--log-y/--linear-y", help="By default linear.")
    ] = None,
    pareto: Annotated[
        str | None,
        _in_panel(
            _OTHERS,
            "--pareto",
            help="The choices that are best in some trade-off of two or three columns, each "
            "perhaps with min: or max: before it, such as wa,op.",
            metavar="COLUMNS",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        _in_panel(_OTHERS, "--sensitivity", help="Which axes matter for --y, by Sobol or Morris."),
    ] = False,
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
    from writeamp.cli.sweep_tables import print_view, rows_of  # noqa: PLC0415 (slow)
    from writeamp.studies.sweep.results import sweep_results  # noqa: PLC0415 (slow)

    found = sweep_results(folder, of=of).where(_conditions(where or []))
    given = {
        "x": x, "y": y, "hue": hue, "facet": facet or None, "color": color, "log_x": log_x,
        "log_y": log_y,
    }  # fmt: skip
    given = {name: one for name, one in given.items() if one is not None}
    chosen = _chosen(kind, pareto, sensitivity, is_asked=bool(given) or plot is not None)
    view = None if chosen is None else _view(found, chosen, pareto, given)
    if view is not None and plot is not None:
        view.plot(plot)
    _note_failures(found)
    if json:
        document = {
            "out": str(folder),
            "points": found.tidy.frame.height,
            "parameters": found.tidy.parameters,
        }
        options.print_json(document | (rows_of(found) if view is None else view.to_dict()))
    elif csv:
        options.print_csv((view or found).to_frame())
    else:
        print_view(str(folder), found, view)


def _chosen(
    kind: str | None, pareto: str | None, sensitivity: bool, *, is_asked: bool
) -> str | None:
    """Return the way to look that the options choose; None for the plain table."""
    named = [
        flag
        for flag, is_given in (
            (f"--kind {kind}", kind is not None),
            (_PARETO, pareto is not None),
            (_SENSITIVITY, sensitivity),
        )
        if is_given
    ]
    if len(named) > 1:
        raise WriteampError(f"{named[0]} and {named[1]} are different pictures; give only one")
    if kind is not None:
        OneOf(_KINDS).check("kind", kind)
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


def _conditions(given: Sequence[str]) -> dict[str, list[str]]:
    """Return the values by name; several of one name are alternatives."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise WriteampError(f"--where {shown(text)} is not NAME=VALUE, such as manager=single")
        found.setdefault(name.strip(), []).append(value.strip())
    return found


def _note_failures(found: SweepResults) -> None:
    failed = found.tidy.frame["error"].count()
    if failed:
        options.warn(
            f"{failed} of {found.tidy.frame.height} points failed; `writeamp sweep FILE.toml "
            "--retry-failed` runs them again"
        )
