"""Families of SATA drives: which attributes count host and flash writes, and in which units.

`families.toml` has the rules. The drive's model selects the family; attribute names are ignored, as
they depend on the version of smartctl.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Self, get_args

from writeamp.devices import toml_text
from writeamp.drives.counters.amounts import UNITS, FlashPart, Side, Unit
from writeamp.drives.counters.table_checks import ValueKind, check_choice, check_table, compiled
from writeamp.errors import WriteampError, placed, unknown
from writeamp.files.inputs import read_bytes

_TEXT, _COUNTERS = ValueKind(str, "text"), ValueKind(list, "a list of counters")
_KINDS = {
    "name": _TEXT,
    "models": _TEXT,
    "firmware": _TEXT,
    "source": _TEXT,
    "note": _TEXT,
    "host": _COUNTERS,
    "flash": _COUNTERS,
    "compresses": ValueKind(bool, "true or false"),
}
_NEEDED = ("name", "models", "host", "source")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class AttributeRule:
    """SMART attribute that counts host or flash writes, and its unit.

    Attributes:
        ids: attribute numbers; the first with a value above 0 is used.
        side, part: see `Counter`.
        unit: None if unknown, or if the attribute counts pages.
        shared: name of an unknown unit that several attributes of the drive share.
        high: number of the attribute with the bits above the lower 32, or 0.
        bits: width of the attribute in bits, at which it wraps; 0 if it does not wrap.
    """

    ids: tuple[int, ...]
    side: Side
    part: FlashPart = "all"
    unit: Unit | None = None
    shared: str = ""
    high: int = 0
    bits: int = 0


@dataclass(frozen=True)
class EraseRule:
    """Attribute with the mean erases per block, as its value or in its second 16 bits."""

    id: int
    packed: str = "plain"
    part: str = "all"
    most: int = 0


@dataclass(frozen=True)
class LifeRule:
    """Attribute with the used or remaining rated life, and the encoding of its value.

    `holds` is "raw used", "raw left", "normalized left", or "packed hundredths used": percent in
    the second byte and hundredths in the first, confirmed by the normalized value.
    """

    id: int
    holds: str


@dataclass(frozen=True)
class ErasedRule:
    """Attribute that counts bytes of erased blocks, and its unit."""

    id: int
    unit: Unit


@dataclass(frozen=True)
class Family:
    """Family of drives, with the rules to read its attributes.

    Attributes:
        name: name of the family.
        models: pattern of its model names.
        smartctl: pattern of smartctl's family name, for models that no pattern matches.
        firmware: pattern of firmware versions; "" matches any.
        has: attributes that a drive must have to match by its model.
        writes: rules of host and flash counters.
        erases, erased, life: rules of mean erases, erased bytes and rated life, if there are any.
        seen: attributes that are shown but not used, as their unit is unknown.
        compresses, has_partial_flash, estimates: see `CounterFacts`.
        reports: attributes with the drive's own WA.
        note: sentence on why a counter is missing, or "".
        refusal: why the counters must not be divided, or "".
        source: reference for these rules.
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
    """Return the families in the order in which they are tried: the most specific first."""
    table = tomllib.loads(
        files("writeamp.drives.counters").joinpath("families.toml").read_text("utf-8")
    )
    return tuple(family_from(family) for family in table["family"])


def family_of(
    model: str | None,
    smartctl: str | None,
    firmware: str | None,
    attributes: Collection[int],
    own: Iterable[Family] = (),
) -> Family | None:
    """Return the family of a drive by its model, or otherwise by smartctl's family name.

    The user's own families are tried first.
    """
    candidates = [
        family for family in (*own, *families()) if family.firmware.search(firmware or "")
    ]
    by_model = (
        family
        for family in candidates
        if model and family.models.search(model) and family.has <= frozenset(attributes)
    )
    by_name = (
        family
        for family in candidates
        if smartctl and family.smartctl and family.smartctl.search(smartctl)
    )
    return next(by_model, None) or next(by_name, None)


def family_from(table: dict[str, Any]) -> Family:
    """Return the family that a table of `families.toml` describes."""
    sides: tuple[Side, ...] = ("host", "flash")
    return Family(
        name=table["name"],
        models=re.compile(table["models"]),
        smartctl=re.compile(table["smartctl"]) if "smartctl" in table else None,
        firmware=re.compile(table.get("firmware", "")),
        has=frozenset(table.get("has", [])),
        writes=tuple(_rule(rule, side) for side in sides for rule in table.get(side, [])),
        erases=tuple(EraseRule(**rule) for rule in table.get("erases", [])),
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


@dataclass(frozen=True)
class Stated:
    """Drive model set by the user, and families that are tried before the built-in ones.

    Attributes:
        model: model name as the drive reports it, or None.
        families: the user's families; see `families_in`.
    """

    model: str | None = None
    families: tuple[Family, ...] = ()

    @classmethod
    def of(cls, model: str | None, families: tuple[Family, ...] = ()) -> Self:
        """Return the model and families that the user has set.

        Raises:
            WriteampError: the model is empty.
        """
        if model is not None and not model.strip():
            raise WriteampError("the model is empty. Give the model name that the drive reports")
        return cls(None if model is None else " ".join(model.split()), families)

    def check_model(self, model: str | None, name: str) -> None:
        """Reject a document with a model other than the user's.

        Raises:
            WriteampError: the models differ.
        """
        stated = self.model
        if model and stated and " ".join(model.split()).casefold() != stated.casefold():
            raise WriteampError(
                f"{name} is of the drive model {model!r}, but --model is {stated!r}"
            )


NOTHING_STATED = Stated()


def families_in(path: str | os.PathLike[str] | None) -> tuple[Family, ...]:
    """Return the families of a TOML file, or an empty tuple without a file.

    Args:
        path: TOML file of `[[family]]` tables with `name`, `models` (a regular expression), `host`
            and `source`; optional are `flash`, `firmware`, `note` and `compresses`. A counter is `{
            id = 241, unit = "32 MiB" }`; its unit is a name of `amounts.UNITS`.

    Raises:
        WriteampError: the file cannot be read, or has other content.
    """
    if path is None:
        return ()
    file = os.fspath(path)
    try:
        text = read_bytes(file, _MOST_BYTES, "file of families").decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise WriteampError(f"cannot read the families of {file}: {why}") from None
    table = toml_text.parse(text, f"cannot read the families of {file}")
    tables = table.get("family")
    if not isinstance(tables, list) or not tables or set(table) != {"family"}:
        raise WriteampError(f"{file}: a file of families must have [[family]] tables only")
    return tuple(_family(table, f"{file}: family {at}") for at, table in enumerate(tables, 1))


def _family(table: Any, where: str) -> Family:
    try:
        check_table("a family", table, _KINDS, _NEEDED)
        for pattern in ("models", "firmware"):
            compiled(pattern, table.get(pattern, ""))
        for side in ("host", "flash"):
            for counter in table.get(side, []):
                _check_counter(side, counter)
        return family_from(table)
    except WriteampError as error:
        raise placed(where, error) from None


def _check_counter(side: str, counter: Any) -> None:
    keys = ("id", "unit", "part", "bits")
    if not isinstance(counter, dict) or "id" not in counter:
        raise WriteampError(
            f'{side} must be a list of counters such as {{ id = 241, unit = "32 MiB" }}'
        )
    for key in counter:
        if key not in keys:
            raise unknown(f"key of a counter of {side}", key, keys)
    if type(counter["id"]) is not int or not 1 <= counter["id"] <= 255:
        raise WriteampError(f"id must be an attribute number from 1 to 255, not {counter['id']!r}")
    if counter.get("bits", 0) not in (0, 32, 48):
        raise WriteampError(
            f"bits must be 32, 48, or 0 (a counter that does not wrap), not {counter['bits']!r}"
        )
    check_choice("unit", counter, UNITS)
    check_choice("part", counter, get_args(FlashPart))
