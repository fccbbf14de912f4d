"""Families of SATA drives: which attributes count host and flash writes, and in which units.

The facts stand in `families.toml`. A drive's model decides; names of attributes depend on the
host's smartctl and decide nothing.
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
from writeamp.drives.counters.amounts import UNITS, Part, Side, Unit
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
        compresses, has_partial_flash, estimates: see `CounterFacts`.
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


@dataclass(frozen=True)
class Stated:
    """Model of a drive, and families of drives to try before those of the table.

    Attributes:
        model: as the drive says it; None of none.
        families: of the user; see `families_in`.
    """

    model: str | None = None
    families: tuple[Family, ...] = ()

    @classmethod
    def of(cls, model: str | None, families: tuple[Family, ...] = ()) -> Self:
        """Return what the user states.

        Raises:
            WriteampError: the model is empty.
        """
        if model is not None and not model.strip():
            raise WriteampError("the model is empty; give it as the drive says it")
        return cls(None if model is None else " ".join(model.split()), families)

    def check_model(self, said: str | None, name: str) -> None:
        """Refuse a document whose model is another than the user states.

        Raises:
            WriteampError: it is.
        """
        stated = self.model
        if said and stated and " ".join(said.split()).casefold() != stated.casefold():
            raise WriteampError(f"{name} says that the drive's model is {said!r}, not {stated!r}")


NOTHING_STATED = Stated()


def families_in(path: str | os.PathLike[str] | None) -> tuple[Family, ...]:
    """Return the families of a file; none of no file.

    Args:
        path: a TOML file of `[[family]]` tables with `name`, `models` (a regular expression),
            `host`, `source`, and perhaps `flash`, `firmware`, `note` and `compresses`. A counter is
            `{ id = 241, unit = "32 MiB" }`, its unit a name of `amounts.UNITS`.

    Raises:
        WriteampError: the file cannot be read, or holds something else.
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
    found = table.get("family")
    if not isinstance(found, list) or not found or set(table) != {"family"}:
        raise WriteampError(f"{file}: a file of families holds [[family]] tables and nothing else")
    return tuple(_family(one, f"{file}: family {at}") for at, one in enumerate(found, 1))


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
        raise WriteampError(f'{side} has counters such as {{ id = 241, unit = "32 MiB" }}')
    for key in counter:
        if key not in keys:
            raise unknown(f"key of a counter of {side}", key, keys)
    if type(counter["id"]) is not int or not 1 <= counter["id"] <= 255:
        raise WriteampError(f"id is the number of an attribute, 1 to 255, not {counter['id']!r}")
    if counter.get("bits", 0) not in (0, 32, 48):
        raise WriteampError(f"bits must be 32 or 48, not {counter['bits']!r}")
    check_choice("unit", counter, UNITS)
    check_choice("part", counter, get_args(Part))
