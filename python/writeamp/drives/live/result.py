"""Result of `writeamp live`: writers of a disk, their cost, and the years left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.drives.live.estimate import WearEstimate
from writeamp.errors import WriteampError
from writeamp.plots.figures.tags import wear_by_writer
from writeamp.plots.spec import BarChart
from writeamp.recorder.rows import Totals
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import bounds_in_words, four_digits, years_in_words
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration
from writeamp.units.write_rates import gb_a_day, tb_a_year

_MOST_SHOWN, _MOST_IN_JSON = 10, 100


@dataclass(frozen=True)
class Writer:
    """A process or a file, and its written bytes at the rate of the recording."""

    name: str
    host_bytes: int
    duration_s: float

    @property
    def gb_a_day(self) -> float:
        """Bytes a day in GB (10**9 bytes)."""
        return gb_a_day(self.host_bytes, self.duration_s)

    @property
    def tb_a_year(self) -> float:
        """Bytes a year in TB (10**12 bytes)."""
        return tb_a_year(self.host_bytes, self.duration_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the writer as JSON types."""
        return {
            "name": self.name,
            "host_bytes": self.host_bytes,
            "gb_a_day": self.gb_a_day,
            "tb_a_year": self.tb_a_year,
        }


def writers_of(totals: Totals, duration_s: float) -> tuple[Writer, ...]:
    """Return the names with the most written bytes; bytes without a name are "unknown"."""
    # A copy, as the recording may add names meanwhile.
    named = Counter(dict(totals.bytes)).most_common(_MOST_IN_JSON)
    unknown = [("unknown", totals.unknown_bytes)] if totals.unknown_bytes else []
    ranked = sorted([*named, *unknown], key=lambda pair: -pair[1])
    return tuple(Writer(name, count, duration_s) for name, count in ranked)


@dataclass(frozen=True, eq=False)
class LiveWear(Drawn):
    """Writes of a disk in a short time, and their cost.

    Attributes:
        device, model: name of the disk in the kernel, and its model, if it has one.
        capacity_bytes: size of the recorded device.
        duration_s: time of the recording in seconds.
        whole: all writes.
        processes, files: the writers; files is None if they were not recorded.
        estimate: WA by simulation; None if nothing was written.
        rated_tbw, rated_source: rated endurance in TB (10**12 bytes), and its source; None if it is
            unknown.
        counters_wa: WA since the drive was new by its own counters, or None.
        notes: sentences on the limits of the estimate.
    """

    device: str
    model: str | None
    capacity_bytes: int
    duration_s: float
    whole: Writer
    processes: tuple[Writer, ...]
    files: tuple[Writer, ...] | None
    estimate: WearEstimate | None
    rated_tbw: float | None
    rated_source: str | None
    counters_wa: float | None
    notes: tuple[str, ...]

    @property
    def years(self) -> float | None:
        """Years in which the host writes the rated TBW at this rate; None without a rating."""
        if self.rated_tbw is None or not self.whole.host_bytes:
            return None
        return self.rated_tbw / self.whole.tb_a_year

    @property
    def flash_gb_a_day(self) -> float | None:
        """Flash bytes a day in GB (10**9 bytes), by the estimate."""
        return None if self.estimate is None else self.whole.gb_a_day * self.estimate.wa

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp live --json`."""
        low, high = (None, None) if self.estimate is None else self.estimate.bounds
        return {
            "device": self.device,
            "model": self.model,
            "capacity_bytes": self.capacity_bytes,
            "duration_s": self.duration_s,
            "host_bytes": self.whole.host_bytes,
            "gb_a_day": self.whole.gb_a_day,
            "tb_a_year": self.whole.tb_a_year,
            "processes": [each.to_dict() for each in self.processes],
            "files": None if self.files is None else [each.to_dict() for each in self.files],
            "wa": None if self.estimate is None else self.estimate.wa,
            "wa_low": low,
            "wa_high": high,
            "flash_gb_a_day": self.flash_gb_a_day,
            "rated_tbw": self.rated_tbw,
            "rated_source": self.rated_source,
            "years": self.years,
            "counters_wa": self.counters_wa,
            "assumptions": None if self.estimate is None else self.estimate.to_dict(),
            "notes": list(self.notes),
        }

    def card(self) -> Card:
        """Return the rates, the writers, and WA in each assumed state of the drive."""
        named = f" ({self.model})" if self.model else ""
        rows = [
            ("disk", f"{self.device}{named}, {shown_bytes(self.capacity_bytes)}"),
            ("host writes", self._rate()),
        ]
        if self.estimate is not None and self.flash_gb_a_day is not None:
            within = bounds_in_words(*self.estimate.bounds)
            rows += [
                ("WA, estimated", f"{four_digits(self.estimate.wa)} ({within})"),
                ("flash writes", f"{four_digits(self.flash_gb_a_day)} GB a day"),
            ]
        if self.years is not None and self.rated_tbw is not None:
            years = years_in_words(self.years)
            rows.append(("rated TBW", f"{self.rated_tbw:,.6g} TB, {years} years at this rate"))
        if self.counters_wa is not None:
            rows.append(("WA since new, by the drive", four_digits(self.counters_wa)))
        parts = [_table("process", self.processes)]
        if self.files is not None:
            parts.append(_table("file", self.files))
        if self.estimate is not None:
            parts.append(_states(self.estimate))
        return Card("Wear now", rows, parts=parts, notes=list(self.notes))

    def figure(self) -> BarChart:
        """Return bars of TB a year: of the disk, with its flash writes, and of the main writers.

        Raises:
            WriteampError: nothing was written.
        """
        if not self.whole.host_bytes:
            raise WriteampError(f"nothing was written to {self.device}, so there is no picture")
        tb_a_year = self.whole.tb_a_year
        kinds = {"process": self.processes, "file": self.files or ()}
        bars = {
            kind: [(each.name, each.tb_a_year) for each in writers[:_MOST_SHOWN]]
            for kind, writers in kinds.items()
        }
        flash = None
        if self.estimate is not None:
            low, high = self.estimate.bounds
            flash = (tb_a_year * self.estimate.wa, tb_a_year * low, tb_a_year * high)
        return wear_by_writer(
            {"disk": [("all writes", tb_a_year)], **bars},
            flash,
            title=f"Writers of {self.device}, and writes to its flash",
            subtitle=self._rate(),
        )

    def _rate(self) -> str:
        whole = self.whole
        return (
            f"{shown_bytes(whole.host_bytes)} in {shown_duration(self.duration_s)}: "
            f"{four_digits(whole.gb_a_day)} GB a day, {four_digits(whole.tb_a_year)} TB a year"
        )


def _table(kind: str, writers: Sequence[Writer]) -> Card:
    rows = [
        (
            each.name,
            shown_bytes(each.host_bytes),
            four_digits(each.gb_a_day),
            four_digits(each.tb_a_year),
        )
        for each in writers[:_MOST_SHOWN]
    ]
    more = len(writers) - len(rows)
    legend = [f"{more:,} more in --json"] if more else []
    columns = (kind, ">written", ">GB a day", ">TB a year")
    return Card(f"By {kind}", rows, columns, legend=legend, is_ruled=False)


def _states(estimate: WearEstimate) -> Card:
    rows = [
        (state.addresses, f"{state.op:.3g}", f"{state.fill:.0%}", four_digits(state.wa))
        for state in estimate.assumptions
    ]
    columns = ("addresses of the writes", ">op", ">full", ">WA")
    legend = [f"profile {estimate.profile}, at 1/{estimate.scale:,} of the size"]
    return Card("WA if the drive is like this", rows, columns, legend=legend, is_ruled=False)
