"""Rated endurance of SSD models: TBW and warranty, each with the page that states it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from writeamp.units.durations import DAYS_A_YEAR

# Largest relative difference between a drive's capacity and the rated one. "1 TB" may be 1,000 or
# 1,024 GB, while 480 and 500 GB are different models.
_SLACK = 0.03


@dataclass(frozen=True)
class EnduranceRating:
    """Rated endurance of one model and capacity.

    Attributes:
        models: names that drives report; a "*" at the end matches any suffix.
        capacity_gb: capacity in GB (10**9 bytes).
        tbw: TB (10**12 bytes) that the host may write; computed if the source has `dwpd`.
        source: address of the page.
        quote: the rating as printed there; "…" marks omissions.
        warranty_years: years of warranty; None if the page does not state them.
        dwpd: drive writes per day for `dwpd_years`, if the source has them instead of TBW.
        dwpd_years: years of `dwpd`, or None.
    """

    models: tuple[str, ...]
    capacity_gb: float
    tbw: float
    source: str
    quote: str
    warranty_years: int | None = None
    dwpd: float | None = None
    dwpd_years: int | None = None

    def is_of(self, model: str, capacity_bytes: int | None) -> bool:
        """Return whether a drive is of this model; an unknown capacity does not count."""
        if not any(_is_named(model.casefold(), name.casefold()) for name in self.models):
            return False
        rated_bytes = self.capacity_gb * 1e9
        return capacity_bytes is None or abs(capacity_bytes - rated_bytes) <= _SLACK * rated_bytes


@cache
def endurance_ratings() -> tuple[EnduranceRating, ...]:
    """Return all ratings of `endurance.toml`."""
    text = files("writeamp.devices").joinpath("endurance.toml").read_text("utf-8")
    return tuple(
        _rating(table, drive)
        for table in tomllib.loads(text)["rating"]
        for drive in table["drives"]
    )


def _rating(table: dict[str, Any], drive: dict[str, Any]) -> EnduranceRating:
    dwpd, years, capacity_gb = drive.get("dwpd"), drive.get("dwpd_years"), drive["capacity_gb"]
    derived = None if dwpd is None else dwpd * capacity_gb / 1000 * DAYS_A_YEAR * years
    return EnduranceRating(
        tuple(drive["models"]),
        capacity_gb,
        float(drive["tbw"]) if derived is None else derived,
        table["source"],
        table["quote"],
        drive.get("warranty_years", table.get("warranty_years")),
        dwpd,
        years,
    )


@lru_cache(maxsize=1024)
def endurance_rating(
    model: str | None, capacity_bytes: int | None = None
) -> EnduranceRating | None:
    """Return the rated endurance of a drive, or None if its model and capacity have none.

    Args:
        model: model as the drive reports it.
        capacity_bytes: user capacity; a drive whose capacity differs from that of its model, such
            as one with more spare space, has no rating.

    >>> endurance_rating("Samsung SSD 970 EVO 1TB", 1_000_204_886_016).tbw
    600.0
    >>> endurance_rating("Samsung SSD 970 EVO Super 1TB") is None
    True
    """
    name = " ".join((model or "").split())
    for rating in endurance_ratings():
        if rating.is_of(name, capacity_bytes):
            return rating
    return None


def _is_named(model: str, name: str) -> bool:
    return model.startswith(name[:-1]) if name.endswith("*") else model == name
