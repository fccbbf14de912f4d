"""Result: write amplification of a drive from its counters, with checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from writeamp.drives.counters.amounts import Amount
from writeamp.drives.counters.facts import CounterCheck, CounterFacts
from writeamp.drives.counters.rated import RatedUse, rated_rows, share_in_words
from writeamp.results.card import Card, Presented, without_empty_columns
from writeamp.results.frames import frame_of
from writeamp.results.numbers import bounds_in_words, range_of, with_bounds
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    import polars as pl

# Keys of `to_dict` that are columns of the data frame.
_FLAT = {
    "wa", "wa_low", "wa_high", "wa_definition", "class", "reason", "host_bytes", "host_bytes_low",
    "host_bytes_high", "flash_bytes", "flash_bytes_low", "flash_bytes_high", "model", "firmware",
    "family", "percentage_used", "power_on_hours", "taken_at", "days", "source", "rated_tbw",
    "share_used",
}  # fmt: skip

# Measured: from counters of the host and the flash. Lower-bound: the flash counter leaves out part
# of the writes. Reported: the drive's own WA, which is shown but not used, as no vendor publishes
# its scale. Estimated: an interval from erases and capacity, without a point estimate.
Class: TypeAlias = Literal["measured", "lower-bound", "reported", "estimated", "none"]


@dataclass(frozen=True)
class DriveCounters(Presented):
    """Write amplification of a drive from its counters, or the reason why it is unknown.

    Attributes:
        wa, wa_low, wa_high: flash bytes / host bytes, with its bounds from the granularity of the
            counters; None if unknown. The kind "estimated" has only both bounds, "lower-bound" only
            the lower one.
        wa_definition: name of the definition, or None.
        kind: measured, lower-bound, reported, estimated, or none.
        reason: sentence that explains why `wa` is None, or "".
        host, flash: bytes written by the host, and bytes programmed into the flash; None if
            unknown.
        definitions: WA by every supported definition of WA, and the estimate from erases.
        checks: checks of the answer against the drive's other values.
        facts: facts of the drive, at the end of the interval.
        source: counters that were divided, or sources that were read.
        name: name of the file or folder that was read.
        days: length of the interval in days; None for a life, or if the times are unknown.
        is_interval: whether the answer is of an interval.
        is_powered_on: whether `days` count power-on time only, as the times of the snapshots are
            unknown or uncertain.
        rated_tbw, share_used, rated_source, warranty_years: see `RatedUse`; None for an interval.
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
    rated_tbw: float | None = None
    share_used: float | None = None
    rated_source: str | None = None
    warranty_years: int | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Bounds of the write amplification, low and high; None if either is unknown."""
        if self.wa_low is None or self.wa_high is None:
            return None
        return self.wa_low, self.wa_high

    @property
    def rated_use(self) -> RatedUse:
        """Rated endurance of the drive, and its used share."""
        return RatedUse(self.rated_tbw, self.share_used, self.rated_source, self.warranty_years)

    @property
    def warnings(self) -> list[str]:
        """Sentences about checks with doubts, one per check."""
        return [
            f"{check.name}: {check.evidence}" for check in self.checks if check.verdict == "doubt"
        ]

    @property
    def wa_in_words(self) -> str:
        """Write amplification with its bounds, or the bounds only."""
        return _wa_in_words(self.wa, self.wa_low, self.wa_high)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [{key: value for key, value in self.to_dict().items() if key in _FLAT}]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types; amounts are in bytes."""
        record: dict[str, Any] = {
            "wa": self.wa,
            "wa_low": self.wa_low,
            "wa_high": self.wa_high,
            "wa_definition": self.wa_definition,
            "class": self.kind,
            "reason": self.reason or None,
            **_bytes("host_bytes", self.host),
            **_bytes("flash_bytes", self.flash),
            "definitions": list(self.definitions),
            "checks": [check.to_dict() for check in self.checks],
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
            record["days"] = self.days
            record["days_powered_on"] = self.is_powered_on
            return record
        return record | self.rated_use._asdict()

    def card(self) -> Card:
        """Return the write amplification and all facts of the drive."""
        facts = self.facts
        rows = [("drive", " ".join(filter(None, (facts.model, facts.firmware))) or "unknown")]
        rows += [("family", facts.family)] if facts.family else []
        rows.append(("WA", self.wa_in_words))
        rows += [("reason", self.reason)] if self.reason else []
        rows += [("definition", self.wa_definition)] if self.wa_definition else []
        divided = self.kind in {"measured", "lower-bound"}
        rows.append(("counters" if divided else "read from", self.source))
        rows += [("host wrote", _amount_in_words(self.host))] if self.host else []
        rows += [("flash programmed", _amount_in_words(self.flash))] if self.flash else []
        if self.days is not None and self.days >= 0:
            clock = " powered on" if self.is_powered_on else ""
            rows.append(("interval", f"{self.days:,.4g} days{clock}"))
        if facts.percentage_used is not None:
            rows.append(("rated life used", f"{facts.percentage_used:g}% ({facts.used_label})"))
        rows += rated_rows(self.rated_use)
        rows += [
            (
                f"WA by {definition['wa_definition']}",
                _wa_in_words(definition["wa"], definition["wa_low"], definition["wa_high"]),
            )
            for definition in self.definitions
            if definition["wa_definition"] != self.wa_definition and definition["class"] != "none"
        ]
        rows += [
            (f"check: {check.name}", f"{check.verdict}: {check.evidence}") for check in self.checks
        ]
        return Card("Drive's counters", rows, warnings=self.warnings)


def _bytes(name: str, amount: Amount | None) -> dict[str, int | None]:
    values: Sequence[Any] = amount or (None, None, None)
    low, nominal, high = (None if bound is None else round(bound) for bound in values)
    return {name: nominal, f"{name}_low": low, f"{name}_high": high}


def _wa_in_words(wa: float | None, low: float | None, high: float | None) -> str:
    if wa is not None:
        return f"{wa:.4g}" if low is None or high is None else with_bounds(wa, low, high)
    return bounds_in_words(low, high) + (", estimated" if high is not None else "") or "unknown"


def _amount_in_words(amount: Amount) -> str:
    low, nominal, high = (float(bound) for bound in amount)
    shown = range_of(low, high, ",.0f") or f"{nominal:,.0f}"
    return f"{shown_bytes(round(nominal))} ({shown} bytes)"


def frame_of_answers(answers: Iterable[DriveCounters]) -> pl.DataFrame:
    """Return a Polars data frame with one row per answer; the first column is its file."""
    return frame_of(
        {"file": answer.name, **record} for answer in answers for record in answer._records()
    )


def card_of_answers(answers: Iterable[DriveCounters]) -> Card:
    """Return a card with one row per snapshot."""
    columns = (
        "snapshot",
        "model",
        "WA",
        "definition",
        "host wrote",
        "rated life used",
        "rated TBW used",
        "reason",
    )
    rows = [
        (
            answer.name,
            answer.facts.model or "",
            answer.wa_in_words,
            answer.wa_definition or "",
            shown_bytes(round(answer.host.nominal)) if answer.host else "",
            "" if answer.facts.percentage_used is None else f"{answer.facts.percentage_used:g}%",
            "" if answer.share_used is None else share_in_words(answer.share_used),
            answer.reason,
        )
        for answer in answers
    ]
    return without_empty_columns(Card("Snapshots", rows, columns, is_ruled=False))
