"""Settings of the views of sweep results, from which command-line options are generated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import OneOf, shown
from writeamp.fields.setting import Settings, setting

KINDS = ("lines", "heatmap")

_RESULTS = {"panel": "results"}
_AXES = {"panel": "axes"}
_OTHERS = {"panel": "other views"}


class _Conditions:
    """Domain of settings that are lists of NAME=VALUE."""

    def check(self, name: str, value: Any) -> dict[str, list[str]]:
        """Return the values by name; several values of a name are alternatives."""
        conditions: dict[str, list[str]] = {}
        for text in value:
            setting_name, equals, wanted = text.partition("=")
            if not equals or not setting_name:
                raise WriteampError(
                    f"{name} {shown(text)} is not NAME=VALUE, such as manager=single"
                )
            conditions.setdefault(setting_name.strip(), []).append(wanted.strip())
        return conditions


@dataclass(frozen=True)
class ResultsSettings(Settings):
    """Selection of results in a folder."""

    title: ClassVar[str] = "results"
    names_options: ClassVar[bool] = True

    of: Path | None = setting(
        None,
        None,
        "use only the results of the sweep in this file, if several sweeps share the folder; "
        "--sensitivity needs it for designs that draw samples",
        number="path",
        metavar="FILE.toml",
        **_RESULTS,
    )
    where: dict[str, list[str]] | None = setting(
        None,
        _Conditions(),
        "use only results in which a setting has this value; may be given several times, also for "
        "alternative values of one setting",
        number="texts",
        metavar="NAME=VALUE",
        **_RESULTS,
    )


@dataclass(frozen=True)
class AxesSettings(Settings):
    """Columns and axes of a plot; each view uses some of them, with defaults of its own."""

    title: ClassVar[str] = "axes"

    x: str | None = setting(
        None,
        None,
        "setting on the x axis; by default the first numeric axis that varies",
        metavar="AXIS",
        **_AXES,
    )
    y: str | None = setting(
        None,
        None,
        "column of results on the y axis, or explained by --sensitivity (default wa); in a heat "
        "map, the setting on the y axis",
        metavar="COLUMN",
        **_AXES,
    )
    hue: str | None = setting(
        None,
        None,
        "setting with a line (with --pareto, a colour) for each value; by default the first "
        "other axis that varies",
        metavar="AXIS",
        **_AXES,
    )
    facet: list[str] | None = setting(
        None,
        None,
        "setting with a panel for each value; may be given several times; by default the "
        "remaining axes that vary, if there are at most two",
        number="texts",
        metavar="AXIS",
        **_AXES,
    )
    color: str | None = setting(
        None,
        None,
        "column of results shown in the cells of a heat map (default wa)",
        metavar="COLUMN",
        **_AXES,
    )
    log_x: bool | None = setting(
        None,
        None,
        "scale of the x axis; by default logarithmic if its values have equal ratios",
        flag="--log-x/--linear-x",
        number="flag",
        **_AXES,
    )
    log_y: bool | None = setting(
        None,
        None,
        "logarithmic or linear y axis; by default linear",
        flag="--log-y/--linear-y",
        number="flag",
        **_AXES,
    )


@dataclass(frozen=True)
class ViewSettings(Settings):
    """Choice of a view: lines, heat maps, trade-offs or sensitivity."""

    title: ClassVar[str] = "view"

    kind: str | None = setting(
        None,
        OneOf(KINDS),
        f"kind of plot: {KINDS[0]} (default) or {KINDS[1]}",
        choices=KINDS,
        metavar="KIND",
        **_AXES,
    )
    pareto: str | None = setting(
        None,
        None,
        "show the best choices for two or three columns (Pareto front), such as wa,op; write min: "
        "or max: before a column to state which direction is better",
        metavar="COLUMNS",
        **_OTHERS,
    )
    sensitivity: bool = setting(
        False,
        None,
        "show how much each axis affects --y: Sobol indices, or elementary effects (design morris)",
        number="switch",
        **_OTHERS,
    )
