"""Write amplification by a drive's counters, over its life or an interval, with checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from writeamp.errors import unknown
from writeamp.measure.counters.amounts import Amount
from writeamp.measure.counters.checks import BELOW_ONE, agreement_checks, checks_of, estimated_wa
from writeamp.measure.counters.difference import Interval, interval_between
from writeamp.measure.counters.facts import Facts
from writeamp.measure.counters.host_checks import host_checks
from writeamp.measure.counters.pairing import DEFINITIONS, Amounts, Pairing, finest, pairings
from writeamp.measure.counters.reasons import missing_reason
from writeamp.measure.counters.snapshot import Snapshot
from writeamp.measure.counters.unit_checks import unit_checks
from writeamp.measure.counters.verdicts import Check
from writeamp.results.any_result import AnyResult
from writeamp.results.frames import frame_of

if TYPE_CHECKING:
    import polars as pl

# Keys of an answer that are columns of a table.
_FLAT = {
    "wa", "wa_low", "wa_high", "wa_definition", "class", "reason", "host_bytes", "host_bytes_low",
    "host_bytes_high", "flash_bytes", "flash_bytes_low", "flash_bytes_high", "model", "firmware",
    "family", "percentage_used", "power_on_hours", "taken_at", "days", "source",
}  # fmt: skip

# Measured: by counters of the host and the flash. Reported: the drive's own WA, whose scale no
# vendor publishes, so that it is shown and not a number. Estimated: an interval by erases and
# capacity, without a point.
Class: TypeAlias = Literal["measured", "reported", "estimated", "none"]


@dataclass(frozen=True)
class DriveCounters(AnyResult):
    """Write amplification of a drive by its counters, or why there is none.

    Attributes:
        wa, wa_low, wa_high: flash over host, and what the counters' granularity leaves open; None
            if unknown. Of the class "estimated" there are bounds only.
        wa_definition: what is divided by what; None of none.
        kind: measured, reported, estimated, or none.
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
    checks: tuple[Check, ...]
    facts: Facts
    source: str
    name: str
    days: float | None = None
    is_interval: bool = False
    is_powered_on: bool = False

    @property
    def ci(self) -> tuple[float, float] | None:
        """Bounds of the write amplification, low and high; None if one is unknown."""
        if self.wa_low is None or self.wa_high is None:
            return None
        return self.wa_low, self.wa_high

    @property
    def warnings(self) -> list[str]:
        """Sentences on what is in doubt, one a check."""
        return [f"{one.name}: {one.evidence}" for one in self.checks if one.verdict == "doubt"]

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


def _bytes(name: str, amount: Amount | None) -> dict[str, int | None]:
    values: Sequence[Any] = amount or (None, None, None)
    low, nominal, high = (None if one is None else round(one) for one in values)
    return {name: nominal, f"{name}_low": low, f"{name}_high": high}


def life_answer(snapshot: Snapshot, definition: str | None = None) -> DriveCounters:
    """Return the write amplification since a drive was new.

    Args:
        snapshot: of the drive.
        definition: which one to answer with; by default the first that applies.

    Raises:
        WriteampError: there is no such definition.
    """
    amounts = {one.key: one.amount() for one in snapshot.facts.counters}
    return _answer(snapshot, amounts, definition, None)


def interval_answer(
    before: Snapshot, after: Snapshot, definition: str | None = None
) -> DriveCounters:
    """Return the write amplification between two snapshots of a drive.

    Args:
        before, after: in this order.
        definition: which one to answer with; by default the first that applies.

    Raises:
        WriteampError: there is no such definition.
    """
    interval = interval_between(before.facts, after.facts)
    return _answer(after, interval.amounts, definition, interval)


def _answer(
    snapshot: Snapshot, amounts: Amounts, definition: str | None, interval: Interval | None
) -> DriveCounters:
    if definition is not None and definition not in DEFINITIONS:
        raise unknown("definition of WA", definition, DEFINITIONS)
    facts = snapshot.facts
    is_life = interval is None
    refusal = facts.refusal or ("" if interval is None else interval.refusal)
    found = [] if refusal else pairings(facts.counters, amounts)
    judged = [
        (pair, [*unit_checks(pair), *checks_of(pair, facts, is_life=is_life)]) for pair in found
    ]
    common = [
        *host_checks(facts, amounts, is_life=is_life),
        *agreement_checks(found),
        *facts.checks,
    ]
    common += [] if interval is None else interval.checks
    sound = [
        (pair, checks) for pair, checks in judged if all(one.verdict != "fail" for one in checks)
    ]
    chosen = _chosen(sound, definition)
    estimate = _estimate(facts, amounts) if is_life else None
    answers = tuple(
        [_definition(pair, pair in [one for one, _ in sound]) for pair in found]
        + ([estimate] if estimate else [])
    )
    days = None if interval is None else interval.days
    rest: dict[str, Any] = {
        "definitions": answers,
        "facts": facts,
        "name": snapshot.name,
        "days": days,
        "is_interval": interval is not None,
        "is_powered_on": interval is not None and interval.is_powered_on,
    }
    if chosen is not None:
        pair, checks = chosen
        low, wa, high = (float(one) for one in pair.wa)
        return DriveCounters(
            wa=wa,
            wa_low=low,
            wa_high=high,
            wa_definition=pair.definition,
            kind="measured",
            reason="",
            host=pair.host,
            flash=pair.flash,
            checks=tuple(checks + common),
            source=pair.source,
            **rest,
        )
    checks = judged[0][1] if judged else []
    partial = next((pair.wa for pair, said in judged if _is_lower_bound(pair, facts, said)), None)
    is_estimated = estimate is not None and facts.estimates and not judged
    host_counter = finest((one for one in facts.counters if _is_host(one)), amounts)
    is_first = bool(judged) and partial == judged[0][0].wa
    reason = (
        refusal
        or (_partial(partial) if is_first else "")
        or _failed(checks)
        or _no_definition(definition, sound)
    )
    reason = reason or missing_reason(snapshot, amounts, is_life=is_life)
    return DriveCounters(
        wa=None,
        wa_low=estimate["wa_low"] if estimate and is_estimated else _low(partial),
        wa_high=estimate["wa_high"] if estimate and is_estimated else None,
        wa_definition="erases" if is_estimated else None,
        kind="estimated" if is_estimated else "reported" if facts.reports_wa else "none",
        reason=reason,
        host=None if host_counter is None or refusal else amounts[host_counter.key],
        flash=None if judged or refusal else _flash(facts, amounts),
        checks=tuple(checks + common),
        source=", ".join(snapshot.sources),
        **rest,
    )


def _low(value: Amount | None) -> float | None:
    return None if value is None else float(value.low)


def _partial(wa: Amount | None) -> str:
    if wa is None or wa.high >= 1:
        return ""
    return (
        "this drive's counter leaves out part of the flash (it counts "
        f"{float(wa.nominal):.2g} of what the host wrote)"
    )


def _flash(facts: Facts, amounts: Amounts) -> Amount | None:
    """Return the bytes that were programmed, of a drive whose host's counter is missing."""
    known = [one for one in facts.counters if one.side == "flash" and one.unit is not None]
    whole = finest((one for one in known if one.part == "all"), amounts)
    if whole is not None:
        return amounts[whole.key]
    parts = [finest((one for one in known if one.part == part), amounts) for part in ("tlc", "slc")]
    if None in parts:
        return None
    first, second = (amounts[one.key] for one in parts if one is not None)
    return first + second


def _chosen(
    sound: Iterable[tuple[Pairing, list[Check]]], definition: str | None
) -> tuple[Pairing, list[Check]] | None:
    return next(
        (
            (pair, checks)
            for pair, checks in sound
            if definition == pair.definition or definition is None
        ),
        None,
    )


def _is_host(counter: Any) -> bool:
    return counter.side == "host" and counter.unit is not None and counter.scope == "drive"


def _is_lower_bound(pair: Pairing, facts: Facts, checks: Iterable[Check]) -> bool:
    """Return whether the flash's counter leaves writes out, and nothing else speaks against it."""
    failed = {one.name for one in checks if one.verdict == "fail"}
    return (facts.has_partial_flash or pair.definition == "tlc") and failed <= {BELOW_ONE}


def _definition(pair: Pairing, is_sound: bool) -> dict[str, Any]:
    low, wa, high = (float(one) for one in pair.wa)
    return {
        "wa_definition": pair.definition,
        "class": "measured" if is_sound else "none",
        "wa": wa,
        "wa_low": low,
        "wa_high": high,
        "source": pair.source,
    }


def _estimate(facts: Facts, amounts: Amounts) -> dict[str, Any] | None:
    host = finest((one for one in facts.counters if _is_host(one)), amounts)
    bounds = None if host is None else estimated_wa(facts, amounts[host.key])
    if bounds is None:
        return None
    return {
        "wa_definition": "erases",
        "class": "estimated",
        "wa": None,
        "wa_low": bounds[0],
        "wa_high": bounds[1],
        "source": f"{facts.erases[0].label} x capacity",
    }


def _failed(checks: Iterable[Check]) -> str:
    return "; ".join(f"{one.name}: {one.evidence}" for one in checks if one.verdict == "fail")


def _no_definition(definition: str | None, sound: Sequence[Any]) -> str:
    if not sound:
        return ""
    names = ", ".join(dict.fromkeys(pair.definition for pair, _ in sound))
    if definition is None:
        return f"only a part of the flash's writes is counted; it has the definitions: {names}"
    return f"the counters do not give WA by {definition!r}; they give: {names}"


def frame_of_answers(answers: Iterable[DriveCounters]) -> pl.DataFrame:
    """Return a Polars data frame with a row an answer, and its file in front."""
    return frame_of({"file": one.name, **record} for one in answers for record in one._records())
