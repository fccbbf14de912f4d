"""Result: write amplification of a drive by its counters, with its checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from writeamp.drives.counters.amounts import Amount
from writeamp.drives.counters.facts import CounterCheck, CounterFacts
from writeamp.results.card import Card, Presented
from writeamp.results.frames import frame_of
from writeamp.results.numbers import bounds_in_words, range_of, with_range
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    import polars as pl

# Keys of an answer that are columns of a table.
_FLAT = {
    "wa", "wa_low", "wa_high", "wa_definition", "class", "reason", "host_bytes", "host_bytes_low",
    "host_bytes_high", "flash_bytes", "flash_bytes_low", "flash_bytes_high", "model", "firmware",
    "family", "percentage_used", "power_on_hours", "taken_at", "days", "source",
}  # fmt: skip

# Measured: by counters of the host and the flash. Lower-bound: the flash's counter leaves out part
# of the writes. Reported: the drive's own WA, whose scale no vendor publishes, so that it is shown
# and not a number. Estimated: an interval by erases and capacity, without a point.
Class: TypeAlias = Literal["measured", "lower-bound", "reported", "estimated", "none"]


@dataclass(frozen=True)
class DriveCounters(Presented):
    """Write amplification of a drive by its counters, or why there is none.

    Attributes:
        wa, wa_low, wa_high: flash over host, and what the counters' granularity leaves open; None
            if unknown. Of the class "estimated" both bounds are known, of "lower-bound" one.
        wa_definition: what is divided by what; None of none.
        kind: measured, lower-bound, reported, estimated, or none.
        reason: a sentence that says why `wa` is None; "" if it is not.
        host, flash: bytes; None if unknown.
        definitions: answers by every definition that applies, and by estimate.
        checks: of the answer against all else that the drive says.
        facts: of the drive, at the end of an interval.
        source: the counters that were divided, or the sources that were read.
        name: the file or folder.
        days: length of the interval; None of a life, or if the times are unknown.
        is_interval: it is of an interval.
        is_powered_on: `days` are of power-on hours, as the snapshots do not say their times.
    """

    wa: float | None
    wa_low: float | None
    wa_high: float | None
    wa_definition: str | None
    kind: Class
    reason: str
    host: Amount | None
    flash: Amount | None
    definitions: tuple[dict[str, Any], ...]
    checks: tuple[CounterCheck, ...]
    facts: CounterFacts
    source: str
    name: str
    days: float | None = None
    is_interval: bool = False
    is_powered_on: bool = False

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Bounds of the write amplification, low and high; None if one is unknown."""
        if self.wa_low is None or self.wa_high is None:
            return None
        return self.wa_low, self.wa_high

    @property
    def warnings(self) -> list[str]:
        """Sentences on what is in doubt, one a check."""
        return [f"{one.name}: {one.evidence}" for one in self.checks if one.verdict == "doubt"]

    @property
    def wa_in_words(self) -> str:
        """The write amplification with its bounds, or what is known of it."""
        return _wa_in_words(self.wa, self.wa_low, self.wa_high)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [{key: value for key, value in self.to_dict().items() if key in _FLAT}]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types; amounts are in bytes."""
        found: dict[str, Any] = {
            "wa": self.wa,
            "wa_low": self.wa_low,
            "wa_high": self.wa_high,
            "wa_definition": self.wa_definition,
            "class": self.kind,
            "reason": self.reason or None,
            **_bytes("host_bytes", self.host),
            **_bytes("flash_bytes", self.flash),
            "definitions": list(self.definitions),
            "checks": [one.to_dict() for one in self.checks],
            "warnings": self.warnings,
            "notes": list(self.facts.notes),
            "model": self.facts.model,
            "firmware": self.facts.firmware,
            "family": self.facts.family or None,
            "percentage_used": self.facts.percentage_used,
            "power_on_hours": self.facts.power_on_hours,
            "taken_at": self.facts.taken_at,
            "source": self.source,
        }
        if self.is_interval:
            found["days"] = self.days
            found["days_powered_on"] = self.is_powered_on
        return found

    def card(self) -> Card:
        """Return the write amplification, and all that the drive says of it."""
        facts = self.facts
        rows = [("drive", " ".join(filter(None, (facts.model, facts.firmware))) or "not said")]
        rows += [("family", facts.family)] if facts.family else []
        rows.append(("WA", self.wa_in_words))
        rows += [("why", self.reason)] if self.reason else []
        rows += [("definition", self.wa_definition)] if self.wa_definition else []
        divided = self.kind in {"measured", "lower-bound"}
        rows.append(("counters" if divided else "read from", self.source))
        rows += [("host wrote", _amount_in_words(self.host))] if self.host else []
        rows += [("flash programmed", _amount_in_words(self.flash))] if self.flash else []
        if self.days is not None and self.days >= 0:
            of = " powered on" if self.is_powered_on else ""
            rows.append(("interval", f"{self.days:,.4g} days{of}"))
        if facts.percentage_used is not None:
            rows.append(("rated life used", f"{facts.percentage_used:g}% ({facts.used_label})"))
        rows += [
            (
                f"also by {one['wa_definition']}",
                _wa_in_words(one["wa"], one["wa_low"], one["wa_high"]),
            )
            for one in self.definitions
            if one["wa_definition"] != self.wa_definition and one["class"] != "none"
        ]
        rows += [(f"check: {one.name}", f"{one.verdict}: {one.evidence}") for one in self.checks]
        return Card("Drive's counters", rows, warnings=self.warnings)


def _bytes(name: str, amount: Amount | None) -> dict[str, int | None]:
    values: Sequence[Any] = amount or (None, None, None)
    low, nominal, high = (None if one is None else round(one) for one in values)
    return {name: nominal, f"{name}_low": low, f"{name}_high": high}


def _wa_in_words(wa: float | None, low: float | None, high: float | None) -> str:
    if wa is not None:
        return f"{wa:.4g}" if low is None or high is None else with_range(wa, low, high)
    return bounds_in_words(low, high) + (", estimated" if high is not None else "") or "unknown"


def _amount_in_words(amount: Amount) -> str:
    low, nominal, high = (float(one) for one in amount)
    said = range_of(low, high, ",.0f") or f"{nominal:,.0f}"
    return f"{shown_bytes(round(nominal))} ({said} bytes)"


def frame_of_answers(answers: Iterable[DriveCounters]) -> pl.DataFrame:
    """Return a Polars data frame with a row an answer, and its file in front."""
    return frame_of({"file": one.name, **record} for one in answers for record in one._records())


def card_of_answers(answers: Iterable[DriveCounters]) -> Card:
    """Return a row for each snapshot."""
    columns = ("snapshot", "model", "WA", "definition", "host wrote", "life used", "why")
    rows = [
        (
            one.name,
            one.facts.model or "",
            one.wa_in_words,
            one.wa_definition or "",
            shown_bytes(round(one.host.nominal)) if one.host else "",
            "" if one.facts.percentage_used is None else f"{one.facts.percentage_used:g}%",
            one.reason,
        )
        for one in answers
    ]
    return Card("Snapshots", rows, columns, is_ruled=False)
