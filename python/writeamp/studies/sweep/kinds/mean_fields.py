"""Points that are fixed points of the mean field of hot/cold write frontiers."""

from __future__ import annotations

from typing import Any, ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.meanfield.fixed_point import hot_cold, hot_cold_swap
from writeamp.meanfield.parameters import MODES, checked_parameters
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import PointFound, Table, from_plain, scalars_of
from writeamp.studies.sweep.kinds.theory import TheoryKind, check_numbers
from writeamp.units.ratios import RATIOS

_COUNTS = ("pages_per_block", "d", "d_swap")
_HEATS = ("hot_fraction", "hot_write_fraction")
_REQUIRED = ("mode", "d", *_HEATS)

# What rows have elsewhere, and what two runs of one point do not agree in.
_NOT_MEASURES = ("wa", "elapsed_s", "check_elapsed_s")


class MeanFieldKind(TheoryKind):
    """Kind of points that `writeamp meanfield` finds: fixed points of the mean field."""

    name = "meanfield"
    names = ("mode", *RATIOS, *_COUNTS, *_HEATS)
    whole_numbers = _COUNTS
    ratios = (*RATIOS, *_HEATS)
    one_of = RATIOS
    defaults: ClassVar = {"pages_per_block": 128}

    def checked(self, given: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return the parameters of a fixed point."""
        if "mode" in choice and given["mode"] == "hcwf":
            given.pop("d_swap", None)  # which only the other mode takes
        _check(given)
        return given

    def run(self, settings: Table) -> PointFound:
        """Find the fixed point."""
        given = from_plain(settings)
        swaps = given.pop("mode") == "hcwf-swap"
        point = hot_cold_swap(**given) if swaps else hot_cold(**given)
        return PointFound(
            wa=point.wa,
            measures=scalars_of(point.to_dict(), without=_NOT_MEASURES),
            warnings=(f"ill-conditioned: {point.why}",) if point.ill_conditioned else (),
        )


def _check(given: dict[str, Any]) -> None:
    mode = given.get("mode")
    needed = (*_REQUIRED, "d_swap") if mode == "hcwf-swap" else _REQUIRED
    for name in needed:
        if name not in given:
            raise WriteampError(f"{name} is missing; give it in [meanfield], or as an axis")
    check_numbers(given, texts=("mode",))
    if mode not in MODES:
        raise unknown("mode", str(mode), MODES)
    if mode == "hcwf" and "d_swap" in given:
        raise WriteampError("d_swap is of mode hcwf-swap; mode hcwf swaps nothing, leave it out")
    numbers = {name: one for name, one in given.items() if name != "mode"}
    absent: dict[str, Any] = dict.fromkeys((*RATIOS, "d_swap"))
    checked_parameters(**(absent | numbers))
