"""Settings of a mean field, from which command-line options are generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.domains import OneOf
from writeamp.fields.setting import Settings, setting
from writeamp.meanfield.parameters import COUNT, MODES
from writeamp.units.ratios import fill_setting, op_setting, spare_factor_setting

_PANEL = "hot and cold"
_SHARE = {"number": "ratio", "metavar": "SHARE", "panel": _PANEL, "required": True}


@dataclass(frozen=True)
class MeanFieldSettings(Settings):
    """Drive, collection, and hot and cold data of a mean field; the engine checks the shares."""

    title: ClassVar[str] = "mean field"

    mode: str | None = setting(
        None,
        OneOf(tuple(MODES)),
        f"how hot and cold pages are written: {', '.join(MODES)}",
        choices=tuple(MODES),
        metavar="MODE",
        required=True,
    )
    pages_per_block: int = setting(
        128, COUNT, "pages of an erase block", number="count", panel=_PANEL
    )
    spare_factor: float | None = spare_factor_setting(_PANEL)
    op: float | None = op_setting(_PANEL)
    fill: float | None = fill_setting(_PANEL)
    d: int | None = setting(
        None,
        COUNT,
        "number of blocks drawn at random for a collection; the one with the fewest valid pages is "
        "the victim",
        number="count",
        required=True,
    )
    d_swap: int | None = setting(
        None,
        COUNT,
        "only for mode hcwf-swap, which needs it: number of blocks of one kind (hot or cold) drawn "
        "at random for the second victim of a swap (d* of the paper)",
        number="count",
    )
    hot_fraction: float | None = setting(
        None, None, "share of the logical pages that are hot", **_SHARE
    )
    hot_write_fraction: float | None = setting(
        None, None, "share of the host writes that go to hot pages", **_SHARE
    )
