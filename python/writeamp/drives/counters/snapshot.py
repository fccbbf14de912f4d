"""Snapshot: the facts of all files of one drive at one moment, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.vendor_units import with_vendor_units
from writeamp.errors import WriteampError

# Taking a snapshot takes seconds; clocks of tools may differ by a little more.
_LONGEST_S = 3600.0
_JOINED = ("counters", "erases", "notes", "checks", "raws")


@dataclass(frozen=True)
class Snapshot:
    """Facts of a drive at one moment, and the files that they are from.

    Attributes:
        name: of the file or folder.
        facts: put together.
        sources: names of the sources that read its files.
    """

    name: str
    facts: Facts
    sources: tuple[str, ...]


def snapshot_of(name: str, parts: Sequence[Facts]) -> Snapshot:
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
    for one in fields(Facts):
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
    facts = with_vendor_units(Facts(**merged))
    return Snapshot(name, facts, tuple(dict.fromkeys(one.source for one in parts)))


def _require_one_moment(name: str, parts: Sequence[Facts]) -> None:
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
