"""Facts of a drive at one moment, and the sources that read them from documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.clocks import LocalTime
from writeamp.drives.counters.document import Document

# Name of the check of a text that ends within a line.
CUT_END = "end of the text"

Verdict: TypeAlias = Literal["ok", "doubt", "fail", "unknown"]
# Note on a drive with a rotation rate.
ROTATES = "the drive rotates: a hard disk has no write amplification"


class CounterCheck(NamedTuple):
    """A check by its name, what came of it, and the numbers that say so."""

    name: str
    verdict: Verdict
    evidence: str

    def to_dict(self) -> dict[str, str]:
        """Return the check as JSON types."""
        return self._asdict()


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


class StandardCount(NamedTuple):
    """A counter of the host that a standard log holds too, for a check of its unit."""

    counter: Counter
    logical_sectors: int
    sector_bytes: int


@dataclass(frozen=True)
class CounterFacts:
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
    standard: StandardCount | None = None
    checks: tuple[CounterCheck, ...] = ()
    raws: tuple[tuple[str, int], ...] = ()


class CounterSource(NamedTuple):
    """A kind of document, by what it looks like, and its reader.

    Attributes:
        name: of the tool and what it prints.
        matches: tell from the content whether it is such a document.
        read: return the facts; of a document with several drives or moments, of each.
        specificity: rank among the sources that match a document: the highest reads it. 90 is for
            pages, tables and files of one layout, 70 to 80 for texts and JSON of other tools than
            nvme-cli, 60 for nvme-cli's JSON, 40 to 49 for printed logs that are identified by their
            keys, 20 to 30 for those with common keys or coarse counters, and less for logs whose
            keys other logs have, too.
    """

    name: str
    matches: Callable[[Document], bool]
    read: Callable[[Document], Iterable[CounterFacts]]
    specificity: int
