"""Snapshot: facts from all files of one drive at one moment, with consistent units."""

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
from writeamp.drives.counters.names import drive_name
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial, short_hash

# Longest time between the documents of one snapshot, in seconds. Reading a drive takes seconds, and
# the clocks of the tools may differ by a little more.
_LONGEST_S = 3600.0
_JOINED = ("counters", "erases", "notes", "checks", "raws")
_MOST_CHOICES = 20
# Name of the unit shared by both counters of log 0xCA.
NAND_AND_HOST_BYTES = "0xCA, F4 and F5"

# Name of the unit shared by both counters of Samsung's raw page.
SAMSUNG_PAGE = "Samsung 0xCA"

# Models whose raw page 0xCA has this layout (Samsung PM9A3).
_SAMSUNG = re.compile(r"\bMZ(QL|1L|3L)2", re.IGNORECASE)
_32_MIB = re.compile(r"^(INTEL|SOLIDIGM)\b", re.IGNORECASE)
_COMPRESSING = re.compile(r"ScaleFlux|^CSD-?\d|^SFX", re.IGNORECASE)
# Tolerance, as a ratio, of the host writes in the SMART log, which may be read a little later than
# the vendor's log. The known units differ by more than this.
_SLACK = Fraction(1, 100)
_FEW_UNITS = 200


@dataclass(frozen=True)
class Snapshot:
    """Facts of a drive at one moment, and their files.

    Attributes:
        name: file or folder.
        facts: merged facts of all files.
        sources: names of the sources that read the files.
    """

    name: str
    facts: CounterFacts
    sources: tuple[str, ...]


def snapshot_of(name: str, parts: Sequence[CounterFacts]) -> Snapshot:
    """Return the snapshot that several documents of one drive make up.

    If two documents of the same source have a counter, it was read twice: its count at that moment
    was between both values.

    Raises:
        WriteampError: the documents are of several drives, or of moments far apart.
    """
    if len(parts) == 1:
        return Snapshot(name, with_vendor_units(parts[0]), (parts[0].source,))
    _require_one_moment(name, parts)
    for field_name in ("serial", "model"):
        names = dict.fromkeys(
            getattr(drive_facts, field_name)
            for drive_facts in parts
            if getattr(drive_facts, field_name)
        )
        if len(names) > 1:
            raise WriteampError(
                f"{name} has files of several drives: the {field_name} is {' and '.join(names)}. A "
                "folder must have one drive at one moment"
            )
    merged: dict[str, Any] = {}
    for field in fields(CounterFacts):
        values = [getattr(drive_facts, field.name) for drive_facts in parts]
        if field.name in _JOINED:
            merged[field.name] = tuple(dict.fromkeys(item for value in values for item in value))
        elif field.name == "evidence":
            merged[field.name] = {key: text for value in values for key, text in value.items()}
        else:
            merged[field.name] = next(
                (value for value in values if value not in (None, "", False)), values[0]
            )
    merged["counters"] = tuple(_read_again(merged["counters"]))
    facts = with_vendor_units(CounterFacts(**merged))
    return Snapshot(name, facts, tuple(dict.fromkeys(drive_facts.source for drive_facts in parts)))


def _require_one_moment(name: str, parts: Sequence[CounterFacts]) -> None:
    dated = [
        drive_facts
        for drive_facts in parts
        if drive_facts.taken_at is not None or drive_facts.local_time is not None
    ]
    clock = common_clock(dated)
    apart_s = max(clock.seconds, default=0.0) - min(clock.seconds, default=0.0)
    if apart_s - clock.slack_s > _LONGEST_S:
        hours = apart_s / 3600
        raise WriteampError(
            f"{name} has files of several moments, {hours:.4g} hours apart. A folder must have one "
            "drive at one moment"
        )


def _read_again(counters: Iterable[Counter]) -> list[Counter]:
    by_key: dict[tuple[str, ...], Counter] = {}
    for counter in counters:
        earlier = by_key.get(counter.key)
        if earlier is None:
            by_key[counter.key] = counter
            continue
        counts = [
            earlier.count,
            earlier.count_high or earlier.count,
            counter.count,
            counter.count_high or counter.count,
        ]
        low, high = min(counts), max(counts)
        by_key[counter.key] = replace(counter, count=low, count_high=high if high > low else None)
    return list(by_key.values())


def chosen_drive(drives: Mapping[str, Sequence[Snapshot]], drive: str | None) -> Sequence[Snapshot]:
    """Return the snapshots of one drive.

    Args:
        drives: snapshots of each drive, by drive name.
        drive: part of the drive's model, of its serial's hash or of its file name, or its whole
            serial number; None if there is only one drive.

    Raises:
        WriteampError: no drive or several drives match; the message lists the choices.
    """
    chosen = {
        name: group
        for name, group in drives.items()
        if drive is None or any(_is_named(snapshot, drive) for snapshot in group)
    }
    if not chosen:
        raise no_such_drive(str(drive), drives)
    if len(chosen) > 1:
        problem = "the snapshots are of several drives" if drive is None else "several drives match"
        raise WriteampError(f"{problem}: {_listed(chosen)}; select one with --drive")
    return next(iter(chosen.values()))


def no_such_drive(drive: str, names: Iterable[str]) -> WriteampError:
    """Return the error for a drive that does not exist; it lists the existing drives."""
    return WriteampError(f"no drive matches --drive {drive!r}; valid drives: {_listed(names)}")


def by_drive(snapshots: Sequence[Snapshot]) -> dict[str, list[Snapshot]]:
    """Return the snapshots by drive name.

    If all snapshots together have at most one serial number and one model, they count as one drive.
    """
    for field_name in ("serial", "model"):
        if len({getattr(snapshot.facts, field_name) for snapshot in snapshots} - {None}) > 1:
            break
    else:
        return {snapshot_name(snapshots[0]): list(snapshots)} if snapshots else {}
    drives: dict[str, list[Snapshot]] = {}
    for snapshot in snapshots:
        drives.setdefault(snapshot_name(snapshot), []).append(snapshot)
    return drives


def snapshot_name(snapshot: Snapshot, source: str = "") -> str:
    """Return the name of a snapshot's drive: its model, and the short hash of its serial number.

    Without a serial number, the file or `source` that it was read from replaces the hash.
    """
    facts = snapshot.facts
    if facts.serial:
        return f"{facts.model or ''} {short_hash(facts.serial)}".strip()
    return " ".join(filter(None, (facts.model, source))) or snapshot.name


def _is_named(snapshot: Snapshot, drive: str) -> bool:
    facts = snapshot.facts
    names = (
        facts.model,
        facts.serial,
        snapshot.name,
        snapshot_name(snapshot),
        drive_name(facts, snapshot.name),
    )
    is_part = any(drive.casefold() in name.casefold() for name in names if name)
    return is_part or facts.serial == hashed_serial(drive)


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _MOST_CHOICES} more" if len(listed) > _MOST_CHOICES else ""
    return (", ".join(listed[:_MOST_CHOICES]) or "none") + more


def with_vendor_units(facts: CounterFacts) -> CounterFacts:
    """Return facts with the units of vendor counters, found by the model or the SMART log."""
    if facts.model and _COMPRESSING.search(facts.model):
        facts = replace(facts, compresses=True)
    facts = _without_others_page(facts)
    unknown = [
        counter
        for counter in facts.counters
        if counter.shared == NAND_AND_HOST_BYTES and not counter.unit
    ]
    if not unknown:
        return facts
    unit = _unit_of_vendor(facts, unknown)
    if unit is None:
        note = (
            "several vendors use the names of these write counters with different units. The "
            "model or SMART log that would decide is missing, so the bytes are unknown"
        )
        return replace(facts, notes=(*facts.notes, note))
    return replace(
        facts,
        counters=tuple(
            replace(counter, unit=unit) if counter in unknown else counter
            for counter in facts.counters
        ),
    )


def _without_others_page(facts: CounterFacts) -> CounterFacts:
    """Return facts without the counters of Samsung's raw page if the drive is not that model."""
    if facts.model and _SAMSUNG.search(facts.model):
        return facts
    counters = tuple(counter for counter in facts.counters if counter.shared != SAMSUNG_PAGE)
    if len(counters) == len(facts.counters):
        return facts
    note = (
        "a raw page 0xCA does not identify its vendor. Put the output of `nvme id-ctrl -o json` "
        "into the same folder; only "
        "the layout of Samsung's PM9A3 (MZQL2) is supported"
    )
    return replace(facts, counters=counters, notes=(*facts.notes, note))


def _unit_of_vendor(facts: CounterFacts, unknown: list[Counter]) -> Unit | None:
    if facts.model and _32_MIB.search(facts.model):
        return MIB32
    host = next((counter for counter in unknown if counter.side == "host"), None)
    smart = next((counter for counter in facts.counters if counter.unit is DATA_UNIT), None)
    if host is None or smart is None or host.count < _FEW_UNITS or smart.side != "host":
        return None
    size_bytes = smart.amount().nominal
    return snapped_unit(host, size_bytes, int(size_bytes * _SLACK))
