"""Standard logs of NVMe drives in nvme-cli's format: SMART, endurance group, and FDP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from writeamp.drives.counters.amounts import BYTE, DATA_UNIT, UNITS, Counter, Side
from writeamp.drives.counters.document import Document, number, objects, text_of, whole, wide
from writeamp.drives.counters.facts import CounterFacts, CounterSource
from writeamp.drives.counters.printed import (
    PrintedCount,
    PrintedEntry,
    count_of,
    entries,
    size_beside,
)
from writeamp.drives.counters.printed_log import PrintedLog
from writeamp.text import hashed_serial
from writeamp.vssd.log_pages import fdp, smart

_NAME = "nvme smart-log -o json"
_LABEL = "SMART log, data units written"
# Keys of nvme-cli and smartctl with values that are not all 0 on a working drive, even a new one.
# If all are 0, the drive did not report them.
SIGNS_OF_LIFE = (
    "avail_spare", "available_spare", "data_units_read", "data_units_written",
    "host_read_commands", "host_reads", "host_write_commands", "host_writes",
    "controller_busy_time", "power_cycles", "power_on_hours", "unsafe_shutdowns",
)  # fmt: skip
# Tolerance of the size printed after a count, as the size has only three digits.
_BESIDE_PART = Fraction(1, 100)
_GROUP_NAME = "nvme endurance-log -o json"
_GROUP_KEYS: tuple[tuple[Side, str], ...] = (
    ("host", "data_units_written"),
    ("flash", "media_units_written"),
)
_FDP_NAME = "nvme fdp stats -o json"
_FDP_KEYS: tuple[tuple[Side, str, str], ...] = (
    ("host", fdp.HOST_WRITTEN, "FDP statistics, host bytes"),
    ("flash", fdp.MEDIA_WRITTEN, "FDP statistics, media bytes"),
)
_IDENTITY_NAME = "nvme id-ctrl"
_IDENTITY_KEYS = frozenset({"mn", "sn", "fr"})
_MOST_DRIVES = 10_000


def data_units(value: Any, source: str, label: str) -> tuple[tuple[Counter, ...], tuple[str, ...]]:
    """Return the host counter of data units, or a note that explains why it is missing."""
    count = count_of(value)
    contradiction = _contradiction(count, value)
    if contradiction:
        return (), (f"{label} is {str(value)[:60]!r}, which is not a count: {contradiction}",)
    if count is None or count.high == 0:
        problem = (
            "0: not reported" if count is not None else f"{str(value)[:60]!r}, which is not a count"
        )
        problem = "missing" if value is None else problem
        return (), (f"{label} is {problem}",)
    high = count.high if count.high > count.low else None
    return (
        (Counter("host", count.low, DATA_UNIT, label, source, rounding="up", count_high=high),),
        (),
    )


def percentage_used(
    value: float | None, others: Iterable[Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the percentage used, or None and a note that explains why its 0 is not valid.

    Args:
        value: value as printed.
        others: values that the same log has under the keys `SIGNS_OF_LIFE`.
    """
    counts = [count_of(other) for other in others]
    if value == 0 and not any(count is not None and count.high for count in counts):
        return None, (
            "percentage used is 0, like all other counts of the log, so it is taken as not "
            "reported",
        )
    return value, ()


def _contradiction(count: PrintedCount | None, value: Any) -> str:
    """Return a sentence if the bytes printed after a count contradict it; otherwise ""."""
    size = size_beside(value)
    if size is None or count is None:
        return ""
    size_bytes = count.low * smart.DATA_UNIT_BYTES
    if abs(size - size_bytes) <= max(size * _BESIDE_PART, Fraction(smart.DATA_UNIT_BYTES)):
        return ""
    return (
        f"{count.low:,} units of 512,000 bytes are {size_bytes / 1e12:.4g} TB: the number or "
        "its unit is wrong"
    )


def _matches(document: Document) -> bool:
    log = document.json
    return isinstance(log, dict) and smart.WRITTEN in log and "critical_warning" in log


def _read(document: Document) -> Iterator[CounterFacts]:
    log = document.json
    counters, notes = data_units(log[smart.WRITTEN], _NAME, _LABEL)
    used, why = percentage_used(
        number(log.get(smart.PERCENT_USED, log.get("percentage_used"))),
        (log.get(key) for key in SIGNS_OF_LIFE),
    )
    yield CounterFacts(
        source=_NAME,
        percentage_used=used,
        used_label="SMART log, percentage used",
        power_on_hours=number(log.get(smart.POWER_ON_HOURS)),
        counters=counters,
        notes=(*notes, *why),
    )


def read_printed(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    """Yield the facts of a printed SMART log, or of its JSON with other key spellings."""
    logged = entries(document)
    values = logged[smart.WRITTEN]
    counters, notes = data_units(values[0].value, log.name, _LABEL)
    if len({count_of(entry.value) for entry in values}) > 1:
        twice = f"{_LABEL} appears {len(values)} times: pass the log of one drive at one moment"
        counters, notes = (), (twice,)
    used, why = percentage_used(
        _number(logged, "percentage_used", "percent_used"),
        (logged[key][0].value for key in SIGNS_OF_LIFE if key in logged),
    )
    yield CounterFacts(
        source=log.name,
        model=_text(logged, "model_number", "model_name", "mn"),
        firmware=_text(logged, "firmware_version", "firmware_revision", "fr"),
        serial=hashed_serial(_text(logged, "serial_number", "sn")),
        percentage_used=used,
        used_label="SMART log, percentage used",
        power_on_hours=_number(logged, "power_on_hours"),
        counters=counters,
        notes=(*notes, *why),
    )


def _text(logged: dict[str, tuple[PrintedEntry, ...]], *keys: str) -> str | None:
    return next((text_of(logged[key][0].value) for key in keys if key in logged), None)


def _number(logged: dict[str, tuple[PrintedEntry, ...]], *keys: str) -> float | None:
    count = next((count_of(logged[key][0].value) for key in keys if key in logged), None)
    return None if count is None else number(count.low)


SMART = CounterSource(_NAME, _matches, _read, specificity=60)


def _is_group_log(document: Document) -> bool:
    log = document.json
    return isinstance(log, dict) and {key for _, key in _GROUP_KEYS} <= log.keys()


def _group_facts(log: Mapping[str, Any], source: str) -> CounterFacts:
    """Return the facts of an endurance group log with the keys of nvme-cli's JSON."""
    group = whole(log.get("endgid", log.get("endurance_group_id"))) or 1
    counters = tuple(
        # By the NVMe base specification, the unit is 10**9 bytes, and the count is rounded up.
        Counter(
            side,
            count,
            UNITS["GB"],
            f"endurance group log, {key.replace('_', ' ')}",
            "endurance group log",
            rounding="up",
            scope=f"endurance group {group}",
        )
        for side, key in _GROUP_KEYS
        if (count := wide(log[key]))
    )
    notes = (
        ()
        if len(counters) == len(_GROUP_KEYS)
        else ("endurance group log: a count of writes is 0, so the drive does not support it",)
    )
    return CounterFacts(
        source=source,
        counters=counters,
        notes=notes,
        percentage_used=number(log.get("percent_used", log.get("percentage_used"))),
        used_label="endurance group log, percentage used",
    )


def read_printed_group(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    """Yield the facts of a printed endurance group log."""
    values = {}
    for key, entries_of_key in entries(document).items():
        counts = dict.fromkeys(count_of(entry.value) for entry in entries_of_key)
        count = next(iter(counts))
        values[key] = count.low if len(counts) == 1 and count is not None else None
    yield _group_facts(values, log.name)


ENDURANCE_GROUP = CounterSource(
    _GROUP_NAME,
    _is_group_log,
    lambda document: [_group_facts(document.json, _GROUP_NAME)],
    specificity=62,
)


def _is_fdp(document: Document) -> bool:
    log = document.json
    return isinstance(log, dict) and {fdp.HOST_WRITTEN, fdp.MEDIA_WRITTEN} <= log.keys()


def _fdp_facts(log: Mapping[str, Any], source: str) -> CounterFacts:
    """Return the facts of FDP statistics with the keys of nvme-cli's JSON."""
    group = whole(log.get("endgid", log.get("endurance_group_id")))
    scope = f"endurance group {group or 1}"
    counters, notes = [], []
    for side, key, label in _FDP_KEYS:
        count = wide(log[key])
        if count is None:
            notes.append(f"{label}: {str(log[key])[:60]!r} is not a count")
        elif count:
            # Switching FDP on or off clears these counters, so they cover only the time since then.
            counters.append(
                Counter(side, count, BYTE, label, "FDP statistics", rounding="exact", scope=scope)
            )
    if not counters and not notes:
        notes.append(
            "FDP statistics are 0: FDP is off, or nothing was written since it was enabled"
        )
    return CounterFacts(source=source, counters=tuple(counters), notes=tuple(notes))


def read_printed_fdp(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    """Yield the facts of printed FDP statistics."""
    logged = entries(document)
    values: dict[str, Any] = {}
    for rule in log.written:
        name = fdp.HOST_WRITTEN if rule.side == "host" else fdp.MEDIA_WRITTEN
        for key in rule.keys:
            if key not in logged:
                continue
            counts = dict.fromkeys(count_of(entry.value) for entry in logged[key])
            count = next(iter(counts))
            shown = " and ".join(str(entry.value) for entry in logged[key])
            values[name] = shown if len(counts) > 1 or count is None else count.low
    group = logged.get("endgid", logged.get("endurance_group_id", ()))
    if len(group) == 1:
        values["endgid"] = group[0].value
    yield _fdp_facts(values, log.name)


FDP = CounterSource(
    _FDP_NAME, _is_fdp, lambda document: [_fdp_facts(document.json, _FDP_NAME)], specificity=64
)


def _is_identity(document: Document) -> bool:
    log = document.json
    if isinstance(log, dict) and isinstance(log.get("Devices"), list):
        return True
    return entries(document).keys() >= _IDENTITY_KEYS


def _read_identity(document: Document) -> Iterator[CounterFacts]:
    log = document.json
    if isinstance(log, dict) and isinstance(log.get("Devices"), list):
        yield from _listed(log["Devices"])
        return
    identity = {key: values[0].value for key, values in entries(document).items()}
    yield _identity_facts(identity, "mn", "fr", "sn", whole(_digits(identity.get("tnvmcap"))))


def _digits(value: Any) -> Any:
    return value.split()[0] if isinstance(value, str) and value.strip() else value


def _identity_facts(
    log: Mapping[str, Any], model: str, firmware: str, serial: str, capacity_bytes: int | None
) -> CounterFacts:
    return CounterFacts(
        source=_IDENTITY_NAME,
        model=text_of(log.get(model)),
        firmware=text_of(log.get(firmware)),
        serial=hashed_serial(text_of(log.get(serial))),
        capacity_bytes=capacity_bytes or None,
    )


def _listed(devices: list[Any]) -> Iterator[CounterFacts]:
    """Yield the drives in the output of `nvme list`, each once, also with several namespaces."""
    seen: dict[Any, tuple[dict[str, Any], str, str, str, int]] = {}
    for device in objects(devices[:_MOST_DRIVES]):
        for controller in objects(device.get("Subsystems")):
            for entry in objects(controller.get("Controllers")):
                size_bytes = sum(
                    whole(space.get("PhysicalSize")) or 0
                    for space in objects(entry.get("Namespaces"))
                )
                _add(seen, entry, "Firmware", size_bytes)
        if "ModelNumber" in device:
            _add(seen, device, "Firmware", whole(device.get("PhysicalSize")) or 0)
    if not seen:
        yield CounterFacts(source=_IDENTITY_NAME)
    for log, model, firmware, serial, size_bytes in seen.values():
        yield _identity_facts(log, model, firmware, serial, size_bytes)


def _add(
    seen: dict[Any, tuple[dict[str, Any], str, str, str, int]],
    log: dict[str, Any],
    firmware: str,
    size_bytes: int,
) -> None:
    identity = (text_of(log.get("ModelNumber")), text_of(log.get("SerialNumber")))
    previous = seen.get(identity)
    total = size_bytes + (previous[-1] if previous else 0)
    seen[identity] = (log, "ModelNumber", firmware, "SerialNumber", total)


IDENTITY = CounterSource(_IDENTITY_NAME, _is_identity, _read_identity, specificity=0)
