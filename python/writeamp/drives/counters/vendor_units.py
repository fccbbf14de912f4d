"""Units of counters that several vendors print under one name, by what else the drive says."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from writeamp.drives.counters.amounts import DATA_UNIT, MIB32, Counter, Unit
from writeamp.drives.counters.checks import snapped_unit
from writeamp.drives.counters.facts import CounterFacts

# Name of the unit that both counters of the log 0xCA share.
NAND_AND_HOST_BYTES = "0xCA, F4 and F5"

# Name of the unit that both counters of Samsung's raw page share.
SAMSUNG_PAGE = "Samsung 0xCA"

# Models whose page has that layout (PM9A3).
_SAMSUNG = re.compile(r"\bMZ(QL|1L|3L)2", re.IGNORECASE)
_32_MIB = re.compile(r"^(INTEL|SOLIDIGM)\b", re.IGNORECASE)
_COMPRESSING = re.compile(r"ScaleFlux|^CSD-?\d|^SFX", re.IGNORECASE)
# The SMART log may be read a little later; known units are further apart than this.
_SLACK = Fraction(1, 100)
_FEW_UNITS = 200


def with_vendor_units(facts: CounterFacts) -> CounterFacts:
    """Return a drive's facts with the units that its model or its SMART log settles."""
    if facts.model and _COMPRESSING.search(facts.model):
        facts = replace(facts, compresses=True)
    facts = _without_others_page(facts)
    unknown = [one for one in facts.counters if one.shared == NAND_AND_HOST_BYTES and not one.unit]
    if not unknown:
        return facts
    unit = _unit(facts, unknown)
    if unit is None:
        note = (
            "several vendors print these names with different units, and no model or SMART log "
            "tells which: bytes are unknown"
        )
        return replace(facts, notes=(*facts.notes, note))
    return replace(
        facts,
        counters=tuple(
            replace(one, unit=unit) if one in unknown else one for one in facts.counters
        ),
    )


def _without_others_page(facts: CounterFacts) -> CounterFacts:
    """Return facts without the counters of Samsung's raw page where the drive is another."""
    if facts.model and _SAMSUNG.search(facts.model):
        return facts
    kept = tuple(one for one in facts.counters if one.shared != SAMSUNG_PAGE)
    if len(kept) == len(facts.counters):
        return facts
    note = (
        "nothing in a raw page 0xCA says whose it is: put `nvme id-ctrl -o json` beside it; the "
        "layout of Samsung's PM9A3 (MZQL2) is known"
    )
    return replace(facts, counters=kept, notes=(*facts.notes, note))


def _unit(facts: CounterFacts, unknown: list[Counter]) -> Unit | None:
    if facts.model and _32_MIB.search(facts.model):
        return MIB32
    host = next((one for one in unknown if one.side == "host"), None)
    smart = next((one for one in facts.counters if one.unit is DATA_UNIT), None)
    if host is None or smart is None or host.count < _FEW_UNITS or smart.side != "host":
        return None
    size_bytes = smart.amount().nominal
    return snapped_unit(host, size_bytes, int(size_bytes * _SLACK))
