"""Snapshot: the facts of all files of one drive at one moment, in units that they settle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from writeamp.drives.counters.amounts import DATA_UNIT, MIB32, Counter, Unit
from writeamp.drives.counters.checks import snapped_unit
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import CounterFacts
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial

# Taking a snapshot takes seconds; clocks of tools may differ by a little more.
_LONGEST_S = 3600.0
_JOINED = ("counters", "erases", "notes", "checks", "raws")
_MOST_CHOICES = 20
# Name of the unit that both counters of the log 0xCA share.
NAND_AND_HOST_BYTES = "0xCA, F4 and F5"

# Name of the unit that both counters of Samsung's raw page share.
SAMSUNG_PAGE = "Samsung 0xCA"

# Models whose page has that layout (PM9A3).
_SAMSUNG = re.compile(r"\bMZ(QL|1L|3L)2", re.IGNORECASE)
_32_MIB = re.compile(r"^(INTEL|SOLIDIGM)\b", re.IGNORECASE)
_COMPRESSING = re.compile(r"ScaleFlux|^CSD-?\d|^SFX", re.IGNORECASE)
# The SMART log may be read a little later; known units are further apart than this.
_SLACK = Fraction(1, 100)
_FEW_UNITS = 200


@dataclass(frozen=True)
class Snapshot:
    """Facts of a drive at one moment, and the files that they are from.

    Attributes:
        name: of the file or folder.
        facts: put together.
        sources: names of the sources that read its files.
    """

    name: str
    facts: CounterFacts
    sources: tuple[str, ...]


def snapshot_of(name: str, parts: Sequence[CounterFacts]) -> Snapshot:
    """Return the snapshot of several documents of one drive.

    A counter that two documents of one kind hold is one that was read again: its count lies
    between both.

    Raises:
        WriteampError: the documents are of several drives.
    """
    if len(parts) == 1:
        return Snapshot(name, with_vendor_units(parts[0]), (parts[0].source,))
    _require_one_moment(name, parts)
    for what in ("serial", "model"):
        names = dict.fromkeys(getattr(one, what) for one in parts if getattr(one, what))
        if len(names) > 1:
            raise WriteampError(
                f"{name} holds files of several drives: the {what} is {' and '.join(names)}; a "
                "folder is one drive at one moment"
            )
    merged: dict[str, Any] = {}
    for one in fields(CounterFacts):
        values = [getattr(part, one.name) for part in parts]
        if one.name in _JOINED:
            merged[one.name] = tuple(dict.fromkeys(item for value in values for item in value))
        elif one.name == "evidence":
            merged[one.name] = {key: text for value in values for key, text in value.items()}
        else:
            merged[one.name] = next(
                (value for value in values if value not in (None, "", False)), values[0]
            )
    merged["counters"] = tuple(_read_again(merged["counters"]))
    facts = with_vendor_units(CounterFacts(**merged))
    return Snapshot(name, facts, tuple(dict.fromkeys(one.source for one in parts)))


def _require_one_moment(name: str, parts: Sequence[CounterFacts]) -> None:
    dated = [one for one in parts if one.taken_at is not None or one.local_time is not None]
    clock = common_clock(dated)
    apart_s = max(clock.seconds, default=0.0) - min(clock.seconds, default=0.0)
    if apart_s - clock.slack_s > _LONGEST_S:
        hours = apart_s / 3600
        raise WriteampError(
            f"{name} holds files of several moments, {hours:.4g} hours apart; a folder is one "
            "drive at one moment"
        )


def _read_again(counters: Iterable[Counter]) -> list[Counter]:
    found: dict[tuple[str, ...], Counter] = {}
    for one in counters:
        before = found.get(one.key)
        if before is None:
            found[one.key] = one
            continue
        counts = [
            before.count,
            before.count_high or before.count,
            one.count,
            one.count_high or one.count,
        ]
        low, high = min(counts), max(counts)
        found[one.key] = replace(one, count=low, count_high=high if high > low else None)
    return list(found.values())


def chosen_drive(drives: Mapping[str, Sequence[Snapshot]], drive: str | None) -> Sequence[Snapshot]:
    """Return the snapshots of one drive.

    Args:
        drives: snapshots of each, by names to choose from.
        drive: a part of its model, of its serial's hash or of its file's name, or its serial
            number; None of the only one.

    Raises:
        WriteampError: no drive is so, or several are; the sentence names the choices.
    """
    chosen = {
        name: group
        for name, group in drives.items()
        if drive is None or any(_is_named(one, drive) for one in group)
    }
    if not chosen:
        raise no_such_drive(str(drive), drives)
    if len(chosen) > 1:
        said = "the snapshots are of several drives" if drive is None else "several drives match"
        raise WriteampError(f"{said}: {_listed(chosen)}; name one with --drive")
    return next(iter(chosen.values()))


def no_such_drive(drive: str, names: Iterable[str]) -> WriteampError:
    """Return the error of a drive that is not there, with those that are."""
    return WriteampError(f"no drive matches --drive {drive!r}; there are: {_listed(names)}")


def by_drive(snapshots: Sequence[Snapshot]) -> dict[str, list[Snapshot]]:
    """Return the snapshots of each drive; those that do not say theirs are of the only one."""
    for what in ("serial", "model"):
        if len({getattr(one.facts, what) for one in snapshots} - {None}) > 1:
            break
    else:
        return {_drive_name(snapshots[0]): list(snapshots)} if snapshots else {}
    found: dict[str, list[Snapshot]] = {}
    for one in snapshots:
        found.setdefault(_drive_name(one), []).append(one)
    return found


def _drive_name(one: Snapshot) -> str:
    return " ".join(filter(None, (one.facts.model, one.facts.serial))) or one.name


def _is_named(one: Snapshot, drive: str) -> bool:
    names = (one.facts.model, one.facts.serial, one.name)
    is_part = any(drive.casefold() in name.casefold() for name in names if name)
    return is_part or one.facts.serial == hashed_serial(drive)


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _MOST_CHOICES} more" if len(found) > _MOST_CHOICES else ""
    return (", ".join(found[:_MOST_CHOICES]) or "none") + more


def with_vendor_units(facts: CounterFacts) -> CounterFacts:
    """Return a drive's facts with the units that its model or its SMART log settles."""
    if facts.model and _COMPRESSING.search(facts.model):
        facts = replace(facts, compresses=True)
    facts = _without_others_page(facts)
    unknown = [one for one in facts.counters if one.shared == NAND_AND_HOST_BYTES and not one.unit]
    if not unknown:
        return facts
    unit = _unit_of_vendor(facts, unknown)
    if unit is None:
        note = (
            "several vendors print these names with different units, and no model or SMART log "
            "tells which: bytes are unknown"
        )
        return replace(facts, notes=(*facts.notes, note))
    return replace(
        facts,
        counters=tuple(
            replace(one, unit=unit) if one in unknown else one for one in facts.counters
        ),
    )


def _without_others_page(facts: CounterFacts) -> CounterFacts:
    """Return facts without the counters of Samsung's raw page where the drive is another."""
    if facts.model and _SAMSUNG.search(facts.model):
        return facts
    kept = tuple(one for one in facts.counters if one.shared != SAMSUNG_PAGE)
    if len(kept) == len(facts.counters):
        return facts
    note = (
        "nothing in a raw page 0xCA says whose it is: put `nvme id-ctrl -o json` beside it; the "
        "layout of Samsung's PM9A3 (MZQL2) is known"
    )
    return replace(facts, counters=kept, notes=(*facts.notes, note))


def _unit_of_vendor(facts: CounterFacts, unknown: list[Counter]) -> Unit | None:
    if facts.model and _32_MIB.search(facts.model):
        return MIB32
    host = next((one for one in unknown if one.side == "host"), None)
    smart = next((one for one in facts.counters if one.unit is DATA_UNIT), None)
    if host is None or smart is None or host.count < _FEW_UNITS or smart.side != "host":
        return None
    size_bytes = smart.amount().nominal
    return snapped_unit(host, size_bytes, int(size_bytes * _SLACK))
