"""Choice of one drive among snapshots of several, by its model, serial number or file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial

_MOST_CHOICES = 20


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
        return {_name(snapshots[0]): list(snapshots)} if snapshots else {}
    found: dict[str, list[Snapshot]] = {}
    for one in snapshots:
        found.setdefault(_name(one), []).append(one)
    return found


def _name(one: Snapshot) -> str:
    return " ".join(filter(None, (one.facts.model, one.facts.serial))) or one.name


def _is_named(one: Snapshot, drive: str) -> bool:
    names = (one.facts.model, one.facts.serial, one.name)
    is_part = any(drive.casefold() in name.casefold() for name in names if name)
    return is_part or one.facts.serial == hashed_serial(drive)


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _MOST_CHOICES} more" if len(found) > _MOST_CHOICES else ""
    return (", ".join(found[:_MOST_CHOICES]) or "none") + more
