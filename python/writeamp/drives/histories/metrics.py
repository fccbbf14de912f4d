"""Metrics of watched drives as Prometheus' text, for the node exporter's textfile collector."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from writeamp.drives.histories.result import History
from writeamp.files.output import replacing

_LABELS = ("drive", "model")
_PER_CENT = 100.0


def write_metrics(found: History, path: str | os.PathLike[str]) -> None:
    """Write the last state of each drive, the file as a whole or not at all.

    Raises:
        WriteampError: it cannot be written.
    """
    with replacing(path, "metrics") as file:
        file.write(metrics_text(found))


def metrics_text(found: History) -> bytes:
    """Return the metrics of each drive's life so far, and of its last interval that has WA."""
    registry = CollectorRegistry()

    def gauge(name: str, help_text: str) -> Gauge:
        return Gauge(f"writeamp_drive_{name}", help_text, _LABELS, registry=registry)

    life = gauge("life_write_amplification", "WA since the drive was new")
    last = gauge("interval_write_amplification", "WA of the last interval that has one")
    host = gauge("host_written_bytes", "Bytes that the host wrote since the drive was new")
    flash = gauge("flash_programmed_bytes", "Bytes that were programmed since the drive was new")
    used = gauge("rated_life_used_ratio", "Share of the rated life that is used")
    read_at = gauge("read_timestamp_seconds", "Time of the last reading")
    for one in found.drives:
        names = (one.drive, one.life.facts.model or "")
        with_wa = [each.answer.wa for each in one.intervals if each.answer.wa is not None]
        percent = one.life.facts.percentage_used
        for metric, value in (
            (life, one.life.wa),
            (last, with_wa[-1] if with_wa else None),
            (host, one.life.host and float(one.life.host.nominal)),
            (flash, one.life.flash and float(one.life.flash.nominal)),
            (used, None if percent is None else percent / _PER_CENT),
            (read_at, one.life.facts.taken_at),
        ):
            if value is not None:
                metric.labels(*names).set(value)
    return generate_latest(registry)
