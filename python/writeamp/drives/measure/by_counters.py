"""Functions `counters` and `diff`: WA of real drives from their counters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.families import families_in
from writeamp.drives.counters.pairing import Definition
from writeamp.drives.counters.rated import require_one_model
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.settings import AnswerSettings
from writeamp.drives.devices.reading import read_place
from writeamp.fields.domains import file_names
from writeamp.files.output import AnyPath

__all__ = ["DriveCounters", "counters", "diff"]


def counters(
    snapshots: Sequence[AnyPath] | AnyPath,
    *,
    definition: Definition | None = None,
    model: str | None = None,
    families: AnyPath | None = None,
    rated_tbw: float | None = None,
) -> list[DriveCounters]:
    """Measure the WA of drives since they were new, from snapshots of their counters.

    Args:
        snapshots: files of nvme-cli or smartctl, folders of one drive at one moment, or devices
            such as "/dev/nvme0", which are read now.
        definition: definition of WA; default: the first that the counters support.
        model: drive model, if the files lack it.
        families: TOML file of drive families, tried before those of writeamp.
        rated_tbw: rated endurance of the drives in TB (10**12 bytes); default: that of the model,
            if writeamp has it.

    Returns:
        A `DriveCounters` for each snapshot: `wa`, `wa_low`, `wa_high`, `kind`, `host`, `flash`,
        `checks` and `facts`; `reason` if `wa` is None; `rated_tbw` and `share_used`.

    Raises:
        WriteampError: a file cannot be read, or has no counters; or `rated_tbw` is given for
            several models.
    """
    settings = _settings(definition, model, families, rated_tbw)
    own_families = families_in(settings.families)
    read = [
        snapshot
        for path in file_names(snapshots)
        for snapshot in read_place(path, settings.model, own_families)
    ]
    if settings.rated_tbw is not None:
        require_one_model(snapshot.facts for snapshot in read)
    return [life_answer(snapshot, settings.definition, settings.rated_tbw) for snapshot in read]


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
    definition: Definition | None,
    model: str | None,
    families: AnyPath | None,
    rated_tbw: float | None = None,
) -> AnswerSettings:
    own = None if families is None else Path(families)
    return AnswerSettings(definition, model, own, rated_tbw)
