"""Facts of a drive at one moment, and the sources that read them from documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.clocks import LocalTime
from writeamp.drives.counters.document import Document

# Name of the check of a text without a line end, whose last number may be cut off.
CUT_END = "end of the text"

Verdict: TypeAlias = Literal["ok", "doubt", "fail", "unknown"]
# Note on a drive with a rotation rate, which is not an SSD.
ROTATES = "the drive rotates: a hard disk has no write amplification"
# Note on a document of smartctl that has no drive.
DEVICE_LIST = "the file is a list of devices (smartctl --scan) without their counters"


class CounterCheck(NamedTuple):
    """Result of a check: name of the check, its verdict, and the numbers behind the verdict."""

    name: str
    verdict: Verdict
    evidence: str

    def to_dict(self) -> dict[str, str]:
        """Return the check as JSON types."""
        return self._asdict()


class Erases(NamedTuple):
    """Erases per block: the mean and the maximum, if available.

    `low` and `high` are bounds of the mean: they differ by 1 if the mean is rounded. If the drive
    reports no mean, they are the minimum and the maximum. `part` is the cell type.
    """

    low: float
    high: float
    most: int | None
    label: str
    part: str = "all"


class StandardCount(NamedTuple):
    """Host counter of an attribute, and sectors written of device statistics, to check its unit."""

    counter: Counter
    logical_sectors: int
    sector_bytes: int


@dataclass(frozen=True)
class CounterFacts:
    """Facts of a drive in one document. Missing facts are None or empty.

    Attributes:
        source: name of the source that read the document.
        model, firmware: as reported by the drive.
        serial: hash of the serial number, or the hash that `measure save` stored.
        taken_at: time at which the drive was read, in seconds since 1970.
        local_time: time at which the drive was read, if the time zone is unknown.
        power_on_hours: hours that the drive was on.
        capacity_bytes: user capacity.
        percentage_used: used rated life in percent; may exceed 100.
        used_label: where `percentage_used` was read.
        erases: erases per block.
        counters: counters of bytes or pages written.
        reports_wa: whether the drive reports its own WA, in an unknown scale.
        compresses: whether the drive may compress data, and so write less to its flash than the
            host writes.
        has_partial_flash: whether its flash counters leave out some writes.
        estimates: whether WA may be estimated from the erases per block and the capacity.
        family: name of the drive's family, or "".
        notes: sentences on facts that are missing or may be wrong.
        refusal: why its counters must not be divided, or "".
        evidence: names that the tools print for values, by the label of the value.
        standard: host counter of an attribute, with the sectors written of device statistics.
        checks: consistency checks of the document's values.
        raws: label and value of every count in the document, also of unknown unit or meaning.
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
    """Type of document: how it is recognized, and its reader.

    Attributes:
        name: tool and name of its output.
        matches: function that returns whether a document is of this type.
        read: function that yields the facts of each drive at each moment.
        specificity: rank among the sources that match a document; the highest reads it. 90: pages,
            tables and files of one layout. 70 to 80: texts and JSON of tools other than nvme-cli.
            60: nvme-cli's JSON. 40 to 49: printed logs that are identified by their keys. 20 to 30:
            logs with common keys or coarse counters. Below 20: logs whose keys also appear in other
            logs.
    """

    name: str
    matches: Callable[[Document], bool]
    read: Callable[[Document], Iterable[CounterFacts]]
    specificity: int
