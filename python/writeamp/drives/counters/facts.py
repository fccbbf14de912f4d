"""Facts of a drive at one moment, as a source reads them from a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.local_time import LocalTime
from writeamp.drives.counters.verdicts import Check

# Note on a drive with a rotation rate.
ROTATES = "the drive rotates: a hard disk has no write amplification"


class Erases(NamedTuple):
    """Erases of a block: the mean and the most, where a drive says them.

    `low` and `high` bound the mean: they are one apart if it is a whole number, or the least and
    the most of a drive that says those only. `part` is the kind of cell they are of.
    """

    low: float
    high: float
    most: int | None
    label: str
    part: str = "all"


class Comparison(NamedTuple):
    """A counter of the host that a standard log holds too, for a check of its unit."""

    counter: Counter
    logical_sectors: int
    sector_bytes: int


@dataclass(frozen=True)
class Facts:
    """Facts that one document states of a drive; what it does not state is None or empty.

    Attributes:
        source: name of the source that read it.
        model, firmware: as the drive says them.
        serial: a hash of the serial number, or what `measure save` kept of it.
        taken_at: seconds since 1970 at which it was read.
        local_time: the time at which it was read, if its zone is not known.
        power_on_hours: as the drive says them.
        capacity_bytes: of the user.
        percentage_used: of the rated life; may be above 100.
        used_label: where that stands.
        erases: of blocks.
        counters: of bytes or pages written.
        reports_wa: the drive says its own WA, in a scale that is not known.
        compresses: the drive may write less than the host does.
        has_partial_flash: its flash counters leave out a part of the writes.
        estimates: WA may be estimated from its erases.
        family: the family that it is read as; "" of none.
        notes: sentences that say why something is missing, or may be wrong.
        refusal: the sentence that says why its counters are not to be divided; "" if they may be.
        evidence: names that the host's tools give to what was read, by label.
        standard: the host's counter and what a standard log says of the same.
        checks: of the document's values against each other.
        raws: all counts that it prints, by label, of whatever unit or meaning.
    """

    source: str
    model: str | None = None
    firmware: str | None = None
    serial: str | None = None
    taken_at: float | None = None
    local_time: LocalTime | None = None
    power_on_hours: float | None = None
    capacity_bytes: int | None = None
    percentage_used: float | None = None
    used_label: str = ""
    erases: tuple[Erases, ...] = ()
    counters: tuple[Counter, ...] = ()
    reports_wa: bool = False
    compresses: bool = False
    has_partial_flash: bool = False
    estimates: bool = False
    family: str = ""
    notes: tuple[str, ...] = ()
    refusal: str = ""
    evidence: dict[str, str] = field(default_factory=dict)
    standard: Comparison | None = None
    checks: tuple[Check, ...] = ()
    raws: tuple[tuple[str, int], ...] = ()
