"""Settings of looks at a sweep's results, which options are made from."""

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
    """Domain of lists of NAME=VALUE."""

    def check(self, name: str, value: Any) -> dict[str, list[str]]:
        """Return the values by name; several of one name are alternatives."""
        found: dict[str, list[str]] = {}
        for text in value:
            setting_name, equals, wanted = text.partition("=")
            if not equals or not setting_name:
                raise WriteampError(
                    f"{name} {shown(text)} is not NAME=VALUE, such as manager=single"
                )
            found.setdefault(setting_name.strip(), []).append(wanted.strip())
        return found


@dataclass(frozen=True)
class ResultsSettings(Settings):
    """Results of a folder that are looked at."""

    title: ClassVar[str] = "results"
    names_options: ClassVar[bool] = True

    of: Path | None = setting(
        None,
        None,
        "only the points of this sweep, where several share the folder; --sensitivity needs it of "
        "designs that draw samples",
        number="path",
        metavar="FILE.toml",
        **_RESULTS,
    )
    where: dict[str, list[str]] | None = setting(
        None,
        _Conditions(),
        "only results in which a setting has this value (repeatable)",
        number="texts",
        metavar="NAME=VALUE",
        **_RESULTS,
    )


@dataclass(frozen=True)
class AxesSettings(Settings):
    """Columns of a picture; each way to look takes some, and has defaults of its own."""

    title: ClassVar[str] = "axes"

    x: str | None = setting(
        None,
        None,
        "the axis along x: by default the first that has numbers",
        metavar="AXIS",
        **_AXES,
    )
    y: str | None = setting(
        None,
        None,
        "what was found (default wa), a column of numbers; of a heat map the axis of the rows",
        metavar="COLUMN",
        **_AXES,
    )
    hue: str | None = setting(
        None, None, "the axis with a line for each value", metavar="AXIS", **_AXES
    )
    facet: list[str] | None = setting(
        None,
        None,
        "an axis with a panel for each value (repeatable)",
        number="texts",
        metavar="AXIS",
        **_AXES,
    )
    color: str | None = setting(
        None, None, "what the cells of a heat map show (default wa)", metavar="COLUMN", **_AXES
    )
    log_x: bool | None = setting(
        None,
        None,
        "by default logarithmic where the values are",
        flag="--log-x/--linear-x",
        number="flag",
        **_AXES,
    )
    log_y: bool | None = setting(
        None, None, "by default linear", flag="--log-y/--linear-y", number="flag", **_AXES
    )


@dataclass(frozen=True)
class ViewSettings(Settings):
    """Way to look: lines, heat maps, trade-offs or sensitivity."""

    title: ClassVar[str] = "view"

    kind: str | None = setting(
        None,
        OneOf(KINDS),
        f"{KINDS[0]} (default) or {KINDS[1]}",
        choices=KINDS,
        metavar="KIND",
        **_AXES,
    )
    pareto: str | None = setting(
        None,
        None,
        "the choices that are best in some trade-off of two or three columns, each perhaps with "
        "min: or max: before it, such as wa,op",
        metavar="COLUMNS",
        **_OTHERS,
    )
    sensitivity: bool = setting(
        False,
        None,
        "which axes matter for --y, by Sobol or Morris",
        number="switch",
        **_OTHERS,
    )
