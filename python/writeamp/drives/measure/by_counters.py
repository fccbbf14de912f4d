"""Functions `counters` and `diff`: WA of real drives from their counters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.families import families_in
from writeamp.drives.counters.pairing import Definition
from writeamp.drives.counters.reading import read_snapshot, read_snapshots
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.settings import AnswerSettings
from writeamp.fields.domains import file_names
from writeamp.files.output import AnyPath

__all__ = ["DriveCounters", "counters", "diff"]


def counters(
    snapshots: Sequence[AnyPath] | AnyPath,
    *,
    definition: Definition | None = None,
    model: str | None = None,
    families: AnyPath | None = None,
) -> list[DriveCounters]:
    """Measure the WA of drives since they were new, from snapshots of their counters.

    Args:
        snapshots: files of nvme-cli or smartctl, or folders of one drive at one moment.
        definition: definition of WA; default: the first that the counters support.
        model: drive model, if the files lack it.
        families: TOML file of drive families, tried before those of writeamp.

    Returns:
        A `DriveCounters` for each snapshot: `wa`, `wa_low`, `wa_high`, `kind`, `host`, `flash`,
        `checks` and `facts`; `reason` if `wa` is None.

    Raises:
        WriteampError: a file cannot be read, or has no counters.
    """
    settings = _settings(definition, model, families)
    own_families = families_in(settings.families)
    return [
        life_answer(snapshot, settings.definition)
        for path in file_names(snapshots)
        for snapshot in read_snapshots(path, settings.model, own_families)
    ]


def diff(
    before: AnyPath,
    after: AnyPath,
    *,
    definition: Definition | None = None,
    model: str | None = None,
    families: AnyPath | None = None,
) -> DriveCounters:
    """Measure the WA of a drive between two snapshots of its counters.

    Args:
        before: the earlier snapshot.
        after: the later snapshot.
        definition: see `counters`, like `model` and `families`.
        model: see `counters`.
        families: see `counters`.

    Returns:
        `DriveCounters` of the interval; see `counters`. `days` is its length.

    Raises:
        WriteampError: a file cannot be read, or has no counters.
    """
    settings = _settings(definition, model, families)
    own_families = families_in(settings.families)
    first, last = (read_snapshot(path, settings.model, own_families) for path in (before, after))
    return interval_answer(first, last, settings.definition)


def _settings(
    definition: Definition | None, model: str | None, families: AnyPath | None
) -> AnswerSettings:
    return AnswerSettings(definition, model, None if families is None else Path(families))
