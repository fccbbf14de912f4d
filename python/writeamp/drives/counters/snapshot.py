"""Snapshot: the facts of all files of one drive at one moment, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.vendor_units import with_vendor_units
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial

# Taking a snapshot takes seconds; clocks of tools may differ by a little more.
_LONGEST_S = 3600.0
_JOINED = ("counters", "erases", "notes", "checks", "raws")
_MOST_CHOICES = 20


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
