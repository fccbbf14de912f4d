"""SCSI and SAS drives: gigabytes that the host wrote, and the endurance that is used."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from writeamp.drives.counters.amounts import UNITS, Counter
from writeamp.drives.counters.document import number, text_of, whole, within
from writeamp.drives.counters.facts import ROTATES, Facts
from writeamp.drives.counters.local_time import local_time, taken_at
from writeamp.text import hashed_serial

_LABEL = "error counter log, gigabytes processed by writes"


def _thousandths(value: Any) -> int | None:
    try:
        return whole(round(Decimal(value) * 1000)) if isinstance(value, str) else None
    except (ArithmeticError, ValueError):
        return None


def scsi_facts(log: dict[str, Any], source: str) -> Facts:
    """Return the facts of smartctl's JSON of a SCSI drive; it has no counter of flash writes."""
    # The number is a text: 10**9 bytes with three places behind the point.
    thousandths = _thousandths(
        within(log, "scsi_error_counter_log", "write", "gigabytes_processed")
    )
    counters = (
        (Counter("host", thousandths, UNITS["0.001 GB"], _LABEL, source),) if thousandths else ()
    )
    used = within(log, "scsi_percentage_used_endurance_indicator")
    if used is None:
        used = within(log, "endurance_used", "current_percent")
    rotation = whole(log.get("rotation_rate"))
    note = "SCSI drives have no log that counts flash writes"
    return Facts(
        source=source,
        model=text_of(log.get("model_name"))
        or text_of(log.get("scsi_model_name"))
        or text_of(log.get("product")),
        firmware=text_of(log.get("firmware_version")) or text_of(log.get("revision")),
        serial=hashed_serial(text_of(log.get("serial_number"))),
        taken_at=taken_at(log),
        local_time=local_time(log),
        power_on_hours=number(within(log, "power_on_time", "hours")),
        capacity_bytes=whole(within(log, "user_capacity", "bytes")) or None,
        percentage_used=None if rotation else number(used),
        used_label="SCSI endurance page, percentage used",
        counters=counters,
        notes=(ROTATES if rotation else note,),
    )
