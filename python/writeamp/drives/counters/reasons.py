"""Reasons why a snapshot has no write amplification, and what to run for one."""

from __future__ import annotations

from collections.abc import Sequence

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.facts import Erases, Facts
from writeamp.drives.counters.pairing import Amounts
from writeamp.drives.counters.snapshot import Snapshot

_NVME = (
    "take it with `writeamp measure save DEVICE`, or put the output of `nvme ocp smart-add-log -o "
    "json` (or the vendor's plugin) beside `nvme smart-log -o json` in one folder"
)
# Counts of pages that are only together what was programmed.
_PAGES = {"host pages": "background pages", "background pages": "host pages"}


def missing_reason(snapshot: Snapshot, amounts: Amounts, *, is_life: bool) -> str:
    """Return the sentence that says which counter is missing."""
    facts = snapshot.facts
    counters = [one for one in facts.counters if one.key in amounts]
    hosts = [one for one in counters if one.side == "host"]
    flash = [one for one in counters if one.side == "flash"]
    if hosts and flash:
        return _undivided([*hosts, *flash], is_life=is_life)
    if facts.notes:
        return "; ".join(facts.notes)
    if flash:
        return (
            "there is no counter of the host: put `nvme smart-log -o json` of the same moment in "
            "one folder with it"
        )
    sources = ", ".join(snapshot.sources)
    return (
        f"no counter of flash writes in {sources}; {_NVME}"
        if hosts
        else (f"no counter of writes in {sources}")
    )


def missing_for_estimate(facts: Facts, erases: Sequence[Erases], host: Counter | None) -> str:
    """Return what an estimate by erases and capacity lacks; "" of drives that have none."""
    if not facts.estimates:
        return ""
    parts = (("mean erases", erases), ("capacity", facts.capacity_bytes), ("host writes", host))
    lacking = [name for name, value in parts if not value]
    return f", but there are no {' and no '.join(lacking)}" if lacking else ""


def _undivided(counters: Sequence[Counter], *, is_life: bool) -> str:
    """Return why counters of both sides are not divided."""
    if not is_life:
        return "nothing was written between the snapshots that their counters show"
    pages = {one.part: one.label for one in counters if one.part in _PAGES}
    if len(pages) == 1:
        ((part, label),) = pages.items()
        return f"{label} counts {part} only; the count of {_PAGES[part]} is missing or not readable"
    without = [one.label for one in counters if one.unit is None]
    if without:
        return (
            f"the unit of {', '.join(without)} is unknown; `writeamp measure calibrate` learns it "
            "by writing a known amount"
        )
    return "the counters are of different scopes, or the host has written nothing yet"
