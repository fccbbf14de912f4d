"""Families of SATA drives: which attributes count host and flash writes, and in which units.

The facts stand in `families.toml`. A drive's model decides; names of attributes depend on the
host's smartctl and decide nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from writeamp.drives.counters.amounts import UNITS, Part, Side, Unit


@dataclass(frozen=True)
class AttributeRule:
    """One attribute that counts writes.

    Attributes:
        ids: of the attribute; of several the first that the drive has with a value above 0.
        side, part: what it counts.
        unit: None if unknown, or if the attribute counts pages.
        shared: name of the unknown unit that it has in common with others.
        high: attribute whose value stands above the lower 32 bits; 0 of none.
        bits: width at which it wraps; 0 if it does not.
    """

    ids: tuple[int, ...]
    side: Side
    part: Part = "all"
    unit: Unit | None = None
    shared: str = ""
    high: int = 0
    bits: int = 0


@dataclass(frozen=True)
class EraseRule:
    """The attribute of mean erases, and how they are packed: plain, or in the second 16 bits."""

    id: int
    packed: str = "plain"
    part: str = "all"
    most: int = 0


@dataclass(frozen=True)
class LifeRule:
    """The attribute of the rated life, and what it holds.

    `holds` is "raw used", "raw left", "normalized left", or "packed hundredths used": per cent in
    the second byte and hundredths in the first, which the normalized value repeats.
    """

    id: int
    holds: str


@dataclass(frozen=True)
class ErasedRule:
    """The attribute that counts bytes of erased blocks, and its unit."""

    id: int
    unit: Unit


@dataclass(frozen=True)
class Family:
    """A family of drives, and the rules to read its attributes by.

    Attributes:
        name: of the family.
        models: pattern of model names; drives of others are not of it.
        smartctl: pattern of the family that smartctl names, for models that no pattern knows.
        firmware: pattern of firmware; "" of any.
        has: attributes that a drive must have to be of the family by its model.
        writes: rules of host and flash counters.
        erases, erased, life: rules; empty of none.
        seen: attributes that are shown, as their unit or scale is not known.
        compresses, has_partial_flash, estimates: see `Facts`.
        reports: attributes in which the drive says its own WA.
        note: why something is missing.
        refusal: why the counters are not to be divided; "" if they may be.
        source: where the facts are from.
    """

    name: str
    models: re.Pattern[str]
    smartctl: re.Pattern[str] | None
    firmware: re.Pattern[str]
    has: frozenset[int]
    writes: tuple[AttributeRule, ...]
    erases: tuple[EraseRule, ...]
    erased: ErasedRule | None
    life: LifeRule | None
    seen: tuple[int, ...]
    compresses: bool
    has_partial_flash: bool
    estimates: bool
    reports: tuple[int, ...]
    note: str
    refusal: str
    source: str


@cache
def families() -> tuple[Family, ...]:
    """Return the families in the order in which they are tried: the special before the general."""
    table = tomllib.loads(
        files("writeamp.drives.counters").joinpath("families.toml").read_text("utf-8")
    )
    return tuple(family_from(one) for one in table["family"])


def family_of(
    model: str | None,
    smartctl: str | None,
    firmware: str | None,
    attributes: Collection[int],
    own: Iterable[Family] = (),
) -> Family | None:
    """Return the family of a drive: by its model, or else by the family that smartctl names.

    The user's own families are tried first.
    """
    known = [one for one in (*own, *families()) if one.firmware.search(firmware or "")]
    by_model = (
        one
        for one in known
        if model and one.models.search(model) and one.has <= frozenset(attributes)
    )
    by_name = (one for one in known if smartctl and one.smartctl and one.smartctl.search(smartctl))
    return next(by_model, None) or next(by_name, None)


def family_from(table: dict[str, Any]) -> Family:
    """Return the family that a table describes in the words of `families.toml`."""
    sides: tuple[Side, ...] = ("host", "flash")
    return Family(
        name=table["name"],
        models=re.compile(table["models"]),
        smartctl=re.compile(table["smartctl"]) if "smartctl" in table else None,
        firmware=re.compile(table.get("firmware", "")),
        has=frozenset(table.get("has", [])),
        writes=tuple(_rule(one, side) for side in sides for one in table.get(side, [])),
        erases=tuple(EraseRule(**one) for one in table.get("erases", [])),
        erased=ErasedRule(table["erased"]["id"], UNITS[table["erased"]["unit"]])
        if "erased" in table
        else None,
        seen=tuple(table.get("seen", [])),
        life=LifeRule(**table["life"]) if "life" in table else None,
        compresses=table.get("compresses", False),
        has_partial_flash=table.get("partial", False),
        estimates=table.get("estimates", False),
        reports=tuple(table.get("reports", [])),
        note=table.get("note", ""),
        refusal=table.get("refusal", ""),
        source=table["source"],
    )


def _rule(table: dict[str, Any], side: Side) -> AttributeRule:
    ids = table["id"] if isinstance(table["id"], list) else [table["id"]]
    return AttributeRule(
        tuple(ids),
        side,
        table.get("part", "all"),
        UNITS[table["unit"]] if "unit" in table else None,
        table.get("shared", ""),
        table.get("high", 0),
        table.get("bits", 0),
    )
