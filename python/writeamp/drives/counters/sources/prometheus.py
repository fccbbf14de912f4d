"""Series of smartctl_exporter and nvme_metrics, as text or as responses of Prometheus.

Versions of the exporter convert data units to bytes by different factors, so its bytes have bounds:
the true number is 1/8 to 1.024 times the exported one. It does not export flash counters, but
exports raw attributes of ATA drives, which the family rules apply to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from writeamp.drives.counters.amounts import DATA_UNIT, Counter, Unit
from writeamp.drives.counters.ata import ata_facts
from writeamp.drives.counters.ata_drive import AtaDrive, Attribute
from writeamp.drives.counters.document import Document, number, objects, text_of, whole, within
from writeamp.drives.counters.facts import ROTATES, CounterFacts, CounterSource
from writeamp.drives.counters.families import Stated
from writeamp.drives.counters.sources.nvme_logs import percentage_used
from writeamp.text import hashed_serial

_TEXT = "smartctl_exporter's text"
_LINE = re.compile(r"([a-zA-Z_:][\w:]*)\{([^{}]*)\}\s+([^\s]+)(?:\s+(-?\d+))?\s*$")
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
_MILLI = 1000
_HEAD = 1 << 20
_RANGE = "Prometheus query_range"
_PREFIX = "smartctl_device"
_BYTES = "smartctl_device_bytes_written"
_DATA_UNITS = frozenset({"nvme_data_units_written_total", "nvme_data_units_written"})
_PREFIXES = ("smartctl_device", "nvme_data_units_written", "nvme_percentage_used")
_LEAST, _MOST = Fraction(512, 4096), Fraction(1024, 1000)
_EXPORTED = Unit("byte of smartctl_exporter", Fraction(1), _LEAST, _MOST)
_NOTE = (
    "smartctl_exporter does not export flash writes of NVMe drives, and depending on its version, "
    "its bytes written are wrong by a factor of up to 1.024 or 8"
)
_NOT_NVME = (
    "the exporter has no attributes of this drive, which is not NVMe, and prints 0 as the "
    "percentage used of such drives"
)
_SIGNS_OF_LIFE = (
    "bytes_written", "bytes_read", "data_units_written_total", "data_units_written",
    "power_on_seconds", "power_cycle_count", "available_spare", "num_err_log_entries",
)  # fmt: skip
# Labels that name a drive, of smartctl_exporter and of versions of nvme_metrics.
_NAMES = ("device", "controller", "disk")
_ATTRIBUTES = 256
_SECONDS_AN_HOUR = 3600


class _Sample(NamedTuple):
    """Value of a metric with its labels and its time in seconds since 1970, if known."""

    metric: str
    labels: Mapping[str, str]
    value: float
    at_s: float | None


@dataclass
class _DriveSamples:
    """Samples of one drive at one moment."""

    labels: dict[str, str] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    raw: dict[int, float] = field(default_factory=dict)
    normalized: dict[int, float] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)


def _facts_of_samples(
    samples: Iterable[_Sample], source: str, stated: Stated
) -> Iterator[CounterFacts]:
    """Yield the facts of each drive at each moment."""
    drives: dict[tuple[str, str], dict[float | None, _DriveSamples]] = {}
    for sample in samples:
        name = next((sample.labels[key] for key in _NAMES if sample.labels.get(key)), None)
        if name is None or not sample.metric.startswith(_PREFIXES):
            continue
        moments = drives.setdefault((sample.labels.get("instance", ""), name), {})
        _add(moments.setdefault(sample.at_s, _DriveSamples()), sample)
    for (_, name), moments in drives.items():
        # The model and serial number of a drive may be exported at other times than its counters,
        # so they are collected from all times.
        identity = {key: text for series in moments.values() for key, text in series.labels.items()}
        identity.setdefault("device", name)
        for at_s, series in moments.items():
            yield _facts(identity, series, at_s, source, stated)


def _add(series: _DriveSamples, sample: _Sample) -> None:
    identity = whole(sample.labels.get("attribute_id"))
    if sample.metric == f"{_PREFIX}_attribute":
        if identity is None or identity >= _ATTRIBUTES:
            return
        kind = sample.labels.get("attribute_value_type", "")
        series.names[identity] = text_of(sample.labels.get("attribute_name")) or ""
        if kind == "raw":
            series.raw[identity] = sample.value
        elif kind == "value":
            series.normalized[identity] = sample.value
    elif sample.metric == _PREFIX:
        series.labels |= {key: text for key, text in sample.labels.items() if text}
    elif sample.metric == f"{_PREFIX}_block_size":
        series.values[f"{sample.labels.get('blocks_type', '')} block size"] = sample.value
    else:
        series.values[sample.metric] = sample.value


def _facts(
    labels: Mapping[str, str],
    series: _DriveSamples,
    at_s: float | None,
    source: str,
    stated: Stated,
) -> CounterFacts:
    values = series.values
    model = text_of(labels.get("model_name"))
    firmware = text_of(labels.get("firmware_version"))
    serial = text_of(labels.get("serial_number"))
    seconds = number(values.get(f"{_PREFIX}_power_on_seconds"))
    hours = None if seconds is None else seconds / _SECONDS_AN_HOUR
    capacity = whole(values.get(f"{_PREFIX}_capacity_bytes"))
    if series.raw:
        return ata_facts(
            AtaDrive(
                source=source,
                model=model,
                family=text_of(labels.get("model_family")),
                firmware=firmware,
                serial=serial,
                attributes=dict(_attributes(series)),
                capacity_bytes=capacity,
                power_on_hours=hours,
                taken_at=at_s,
                is_rotating=bool(values.get(f"{_PREFIX}_rotation_rate")),
            ),
            stated,
        )
    used, notes = _used(labels, values)
    return CounterFacts(
        source=source,
        model=model,
        firmware=firmware,
        serial=hashed_serial(serial),
        taken_at=at_s,
        power_on_hours=hours,
        capacity_bytes=capacity,
        percentage_used=used,
        used_label="SMART log, percentage used",
        counters=tuple(_counters(series)),
        notes=notes,
    )


def _used(
    labels: Mapping[str, str], values: Mapping[str, float]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the percentage used, and notes.

    It is None for hard disks, and for 0% of a drive that is not known to be NVMe.
    """
    if values.get(f"{_PREFIX}_rotation_rate"):
        return None, (ROTATES,)
    percent = number(values.get(f"{_PREFIX}_percentage_used"))
    ratio = number(values.get("nvme_percentage_used_ratio"))
    # The textfile collector of nvme_metrics divides the percentage by 100 in floating point, so it
    # is rounded.
    percent = round(ratio * 100) if percent is None and ratio is not None else percent
    if not percent and not _is_nvme(labels):
        return None, (_NOT_NVME,)
    alive = (value for metric, value in values.items() if metric.endswith(_SIGNS_OF_LIFE))
    used, why = percentage_used(percent, alive)
    return used, (*why, _NOTE)


def _is_nvme(labels: Mapping[str, str]) -> bool:
    texts = (labels.get(key, "").lower() for key in ("interface", "protocol", "device"))
    return any("nvme" in text for text in texts)


def _attributes(series: _DriveSamples) -> Iterator[tuple[int, Attribute]]:
    for identity, value in series.raw.items():
        raw = whole(value)
        if raw is not None:
            normalized = whole(series.normalized.get(identity))
            yield identity, Attribute(raw, normalized, series.names.get(identity, ""))


def _counters(series: _DriveSamples) -> Iterator[Counter]:
    for metric, value in series.values.items():
        count = whole(value)
        if not count:
            continue
        if metric in _DATA_UNITS:
            label = "SMART log, data units written"
            yield Counter("host", count, DATA_UNIT, label, "exporter", rounding="up")
        elif metric == _BYTES:
            is_512 = series.values.get("logical block size") == 512
            least = 1 / _MOST if is_512 else _LEAST
            yield Counter("host", count, _EXPORTED._replace(low=least), metric, "exporter")


def _is_text(document: Document) -> bool:
    head = document.text[:_HEAD]
    return any(re.search(rf"^[ \t]*{prefix}\w*\{{", head, re.MULTILINE) for prefix in _PREFIXES)


def _samples_of_text(text: str) -> Iterator[_Sample]:
    for indented in text.splitlines():
        line = indented.lstrip()
        match = _LINE.match(line) if line.startswith(_PREFIXES) else None
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        labels = dict(_LABEL.findall(match[2]))
        at_s = int(match[4][:18]) / _MILLI if match[4] else None
        yield _Sample(match[1], labels, value, at_s)


def _read_text(document: Document) -> Iterator[CounterFacts]:
    yield from _facts_of_samples(_samples_of_text(document.text), _TEXT, document.stated)


TEXT = CounterSource(_TEXT, _is_text, _read_text, specificity=56)


def _is_range(document: Document) -> bool:
    return within(document.json, "data", "resultType") in ("matrix", "vector")


def _printed_value(printed: Any) -> float | None:
    try:
        return number(float(printed)) if isinstance(printed, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _samples_of_range(log: Any) -> Iterator[_Sample]:
    for series in objects(within(log, "data", "result")):
        labels = series.get("metric")
        if not isinstance(labels, dict):
            continue
        texts = {key: text for key, text in labels.items() if isinstance(text, str)}
        points = series.get("values", [series.get("value")])
        for point in points if isinstance(points, list) else []:
            if not isinstance(point, list) or len(point) != 2:
                continue
            at_s, value = number(point[0]), _printed_value(point[1])
            if at_s is not None and value is not None:
                yield _Sample(texts.get("__name__", ""), texts, value, at_s)


def _read_range(document: Document) -> Iterator[CounterFacts]:
    yield from _facts_of_samples(_samples_of_range(document.json), _RANGE, document.stated)


RANGE = CounterSource(_RANGE, _is_range, _read_range, specificity=58)
